import type { Denial, DenyEntry, DenyList, GatewayCommand } from '@auth-account/messaging';
import { type ChangedSession, closeReasonOf, type RevokedSession, type SessionStore } from '@auth-account/stores';

export interface ReconcileDeps {
  readonly sessions: Pick<SessionStore, 'listRevokedSince' | 'listChangedSince'>;
  readonly denyList: Pick<DenyList, 'deny' | 'peek' | 'isComplete' | 'beginRebuild'>;
  readonly publish: (command: GatewayCommand) => Promise<void>;
  /** How far back a revocation or a change of claims still matters, in milliseconds. */
  readonly lifetimeMs: number;
  readonly now: () => Date;
  /** Called once the list is complete again: Redis may have lost more than the list. */
  readonly onRebuild: () => void;
  /** Revocations and changes of claims that Redis did not have. */
  readonly onFound: (sessions: number) => void;
}

/** A change's time is taken before it is committed, by another clock: each round looks back that much further. */
const overlapMs = 15_000;

const pageSize = 500;

/**
 * Makes one round of the comparison of Redis with MongoDB, which is the truth: what was revoked, or had its claims
 * changed, and is not in the deny list is written there, and its close command published again. A round goes back to the
 * last that succeeded, so that nothing is missed however long MongoDB or Redis was away; the first one, and any that
 * finds the list incomplete, goes back as far as a change matters and then says that the list is complete.
 */
export function createReconcile(deps: ReconcileDeps): () => Promise<void> {
  const { sessions, denyList, publish, lifetimeMs, now, onRebuild, onFound } = deps;
  let reconciledUntil: number | undefined;

  /** Announces what the list lacks, and gives the sessions that it was. */
  async function denyMissing<S extends { readonly _id: string }>(
    page: readonly S[],
    toEntry: (session: S) => DenyEntry,
  ): Promise<S[]> {
    const denials = await denyList.peek(page.map(({ _id }) => _id));
    const missing = page.filter((session, index) => !covers(denials[index], toEntry(session).denial));
    if (missing.length === 0) return missing;
    await denyList.deny(missing.map(toEntry));
    onFound(missing.length);
    return missing;
  }

  /** Had an earlier round of this worker seen it already? */
  function isNews({ revoked_at }: RevokedSession): boolean {
    return reconciledUntil === undefined || (revoked_at?.getTime() ?? 0) >= reconciledUntil - overlapMs;
  }

  async function announceSince(at: Date): Promise<void> {
    for await (const page of sessions.listRevokedSince(at, pageSize)) {
      const missing = await denyMissing(page, toRevocation);
      // The other session lives on: of a logout that Redis has only forgotten it must not hear again, or its next stream closes.
      await Promise.all(missing.filter(isNews).flatMap(alsoClose).map(publish));
    }
    for await (const page of sessions.listChangedSince(at, pageSize)) await denyMissing(page, toChange);
  }

  return async () => {
    const begun = now().getTime();
    const oldest = begun - lifetimeMs - overlapMs;
    const isWhole = reconciledUntil === undefined || !(await denyList.isComplete());
    const rebuild = isWhole ? await denyList.beginRebuild() : undefined;
    const from = rebuild || reconciledUntil === undefined ? oldest : Math.max(oldest, reconciledUntil - overlapMs);
    await announceSince(new Date(from));
    if (rebuild && !(await rebuild.complete())) throw new Error('Redis lost its data while the deny list was written');
    reconciledUntil = begun;
    if (rebuild) onRebuild();
  };
}

/** Does what the list has refuse all that it should? */
function covers(listed: Denial | undefined, wanted: Denial): boolean {
  if (listed === undefined) return false;
  return listed.kind === 'revoked' || (wanted.kind === 'below' && listed.ver >= wanted.ver);
}

function toChange({ _id, claims, claims_changed_at, claims_request_id }: ChangedSession): DenyEntry {
  return {
    sessionId: _id,
    denial: { kind: 'below', ver: claims.ver },
    reason: 'GROUP_CHANGED',
    requestId: claims_request_id ?? '',
    decidedAt: claims_changed_at?.getTime() ?? 0,
  };
}

function toRevocation(session: RevokedSession): DenyEntry {
  const { reason, request_id, decided_at } = closeOf(session);
  return {
    sessionId: session._id,
    denial: { kind: 'revoked', reason },
    reason,
    requestId: request_id,
    decidedAt: decided_at,
  };
}

/** The close command of the other session, whose stream the same logout ended. */
function alsoClose(session: RevokedSession): GatewayCommand[] {
  const other = session.revoked_also_close;
  return other === undefined ? [] : [{ ...closeOf(session), session_id: other }];
}

function closeOf({ revoked_at, revoked_reason, revoked_request_id }: RevokedSession) {
  return {
    type: 'close',
    reason: closeReasonOf(revoked_reason),
    request_id: revoked_request_id ?? '',
    decided_at: revoked_at?.getTime() ?? 0,
  } as const;
}
