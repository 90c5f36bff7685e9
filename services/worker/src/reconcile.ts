import type { DenyEntry, DenyList, GatewayCommand } from '@auth-account/messaging';
import type { RevokedSession, SessionStore } from '@auth-account/stores';

export interface ReconcileDeps {
  readonly sessions: Pick<SessionStore, 'listRevokedSince'>;
  readonly denyList: DenyList;
  readonly publish: (command: GatewayCommand) => Promise<void>;
  /** How far back a revocation still matters, in milliseconds. */
  readonly lifetimeMs: number;
  readonly now: () => Date;
  /** Called before the list is said to be complete: Redis may have lost more than the list. */
  readonly onRebuild: () => Promise<void>;
  /** Revocations that Redis did not have. */
  readonly onFound: (sessions: number) => void;
}

/** A revocation's time is taken before it is committed, by another clock: each round looks back that much further. */
const overlapMs = 15_000;

const pageSize = 500;

/**
 * Makes one round of the comparison of Redis with MongoDB, which is the truth: what was revoked and is not in the deny
 * list is written there, and its close command published again. A round goes back to the last that succeeded, so that
 * nothing is missed however long MongoDB or Redis was away; the first one, and any that finds the list incomplete, goes
 * back as far as a revocation matters and then says that the list is complete.
 */
export function createReconcile(deps: ReconcileDeps): () => Promise<void> {
  const { sessions, denyList, publish, lifetimeMs, now, onRebuild, onFound } = deps;
  let reconciledUntil: number | undefined;

  async function announceMissing(page: readonly RevokedSession[]): Promise<void> {
    const known = await denyList.findRevoked(page.map(({ _id }) => _id));
    const missing = page.filter(({ _id }) => !known.has(_id));
    if (missing.length === 0) return;
    await denyList.deny(missing.map(toDenyEntry));
    await Promise.all(missing.flatMap(alsoClose).map(publish));
    onFound(missing.length);
  }

  return async () => {
    const begun = now().getTime();
    const oldest = begun - lifetimeMs - overlapMs;
    const isWhole = reconciledUntil === undefined || !(await denyList.isComplete());
    const rebuild = isWhole ? await denyList.beginRebuild() : undefined;
    const from = rebuild || reconciledUntil === undefined ? oldest : Math.max(oldest, reconciledUntil - overlapMs);
    for await (const page of sessions.listRevokedSince(new Date(from), pageSize)) await announceMissing(page);
    if (rebuild) {
      await onRebuild();
      if (!(await rebuild.complete())) throw new Error('Redis lost its data while the deny list was written');
    }
    reconciledUntil = begun;
  };
}

function toDenyEntry(session: RevokedSession): DenyEntry {
  const { reason, request_id, decided_at } = closeOf(session);
  return {
    sessionId: session._id,
    denial: { kind: 'revoked', reason },
    reason,
    requestId: request_id,
    decidedAt: decided_at,
  };
}

/** The close command of the other session whose stream the same logout ended. */
function alsoClose(session: RevokedSession): GatewayCommand[] {
  const other = session.revoked_also_close;
  return other === undefined ? [] : [{ ...closeOf(session), session_id: other }];
}

function closeOf({ revoked_at, revoked_reason, revoked_request_id }: RevokedSession) {
  return {
    type: 'close',
    reason: revoked_reason === 'logout' ? 'LOGOUT_CONFIRMED' : 'SESSION_REVOKED',
    request_id: revoked_request_id ?? '',
    decided_at: revoked_at?.getTime() ?? 0,
  } as const;
}
