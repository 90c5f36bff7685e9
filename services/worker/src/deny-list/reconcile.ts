import type { Denial, DenyEntry, DenyList } from '@auth-account/messaging/deny-list';
import {
  type ChangedSession,
  type FencedSessions,
  type RevokedSession,
  recordedEnd,
  type SessionStore,
} from '@auth-account/stores';

export interface ReconcileDeps {
  readonly sessions: Pick<SessionStore, 'withFence'>;
  readonly denyList: Pick<DenyList, 'denyAndClose' | 'peek' | 'isComplete' | 'beginRebuild'>;
  /** Time, in ms, for which a revocation or a change of claims matters. */
  readonly lifetimeMs: number;
  readonly now: () => Date;
  /** Called when the list is complete again, because Redis may have lost more than the list. */
  readonly onRebuild: () => void;
  /** Called with the number of revocations and changes of claims that Redis did not have. */
  readonly onFound: (sessions: number) => void;
}

/**
 * The time of a change is taken before the change is written, and by another clock, so each round goes back further by
 * this time. The driver tries a write twice, for 14 s each (`mongoOptions`: 3 s for a server, 3 for a connection, 8 for
 * the answer). The rest is a margin for transactions, which write several times, and for clocks that differ.
 */
const overlapMs = 60_000;

/** A machine that stalled may write later than `overlapMs`, so a round at this interval compares the whole list. */
const wholeEveryMs = 60_000;

/** An entry that is about to expire does not count as missing, because the clock of Redis may differ. */
const expiryMarginMs = 60_000;

const pageSize = 500;

/**
 * Runs one round, which compares Redis with MongoDB, the source of truth. If a session was revoked or its claims were
 * changed, but the deny list lacks the session, the round denies it and closes its stream again. A round goes back to
 * the last successful round, so that nothing is missed, however long MongoDB or Redis was away. The first round, and
 * any round that finds the list incomplete, goes back as far as a change matters and then marks the list as complete.
 * One round a minute compares the whole list.
 *
 * A round reads behind a fence, and fails if it gets no fence. Without a fence, the round would not see a change that
 * no majority has yet, and later rounds would skip that change for good.
 */
export function createReconcile(deps: ReconcileDeps): () => Promise<void> {
  const { sessions, denyList, lifetimeMs, now, onRebuild, onFound } = deps;
  const others = createOtherStreams();
  let reconciledUntil: number | undefined;
  let wholeAt = 0;

  async function findMissing<S extends { readonly _id: string }>(
    page: readonly S[],
    toEntry: (session: S) => DenyEntry,
  ): Promise<S[]> {
    const denials = await denyList.peek(page.map(({ _id }) => _id));
    return page.filter((session, index) => !covers(denials[index], toEntry(session).denial));
  }

  async function denyAndClose(entries: readonly DenyEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await denyList.denyAndClose(entries);
    onFound(entries.length);
  }

  async function repairSince(at: number, begun: number, fenced: FencedSessions): Promise<void> {
    const since = new Date(at);
    // Older changes may be missing because they have expired in Redis, and not because Redis never had them.
    const heardOf = new Date(begun - lifetimeMs + expiryMarginMs);
    const toEntry = (session: RevokedSession): DenyEntry => {
      const isUnheard = (session.revoked_at ?? new Date(0)) >= heardOf;
      return { ...toRevocation(session), alsoClose: isUnheard ? others.of(session) : undefined };
    };
    for await (const page of fenced.listRevokedSince(since, pageSize)) {
      await denyAndClose((await findMissing(page, toRevocation)).map(toEntry));
      others.remember(page);
    }
    for await (const page of fenced.listChangedSince(since, pageSize)) {
      await denyAndClose((await findMissing(page, toChange)).map(toChange));
    }
  }

  /** Returns the time to which a round that begins at `begun` goes back. */
  function startOf(begun: number, isRebuild: boolean): number {
    const oldest = begun - lifetimeMs - overlapMs;
    if (isRebuild || reconciledUntil === undefined) return oldest;
    const isWholeDue = Math.abs(begun - wholeAt) >= wholeEveryMs;
    const whole = isWholeDue ? begun - lifetimeMs + expiryMarginMs : begun;
    return Math.max(oldest, Math.min(whole, begun - overlapMs, reconciledUntil - overlapMs));
  }

  return async () => {
    const begun = now().getTime();
    const isLost = reconciledUntil === undefined || !(await denyList.isComplete());
    const rebuild = isLost ? await denyList.beginRebuild() : undefined;
    const from = startOf(begun, isLost);
    // The rebuild must begin before the fence. A change that is written after the fence is announced even later, so its
    // entry goes into the list that is being rebuilt, or a later one.
    await sessions.withFence((fenced) => repairSince(from, begun, fenced));
    if (rebuild && !(await rebuild.complete())) throw new Error('Redis lost its data while the deny list was written');
    reconciledUntil = begun;
    if (begun - from >= lifetimeMs - expiryMarginMs) wholeAt = begun;
    others.forget(begun - lifetimeMs - overlapMs);
    if (rebuild) onRebuild();
  };
}

/** Returns true if the listed denial refuses everything that the wanted denial refuses. */
function covers(listed: Denial | undefined, wanted: Denial): boolean {
  if (listed === undefined) return false;
  return listed.kind === 'revoked' || (wanted.kind === 'below' && listed.ver >= wanted.ver);
}

function toChange({ _id, claims, claims_changed_at, claims_request_id }: ChangedSession): DenyEntry {
  return {
    sessionId: _id,
    denial: { kind: 'below', ver: claims.ver },
    requestId: claims_request_id ?? '',
    decidedAt: claims_changed_at?.getTime() ?? 0,
  };
}

function toRevocation(session: RevokedSession): DenyEntry {
  const { reason, requestId, at } = recordedEnd(session);
  return { sessionId: session._id, denial: { kind: 'revoked', reason }, requestId, decidedAt: at.getTime() };
}

/** Streams that a logout closes together with the stream of the session that it ends. Their sessions live on. */
export interface OtherStreams {
  /**
   * Returns the other session whose stream closes with the end of this session. Undefined if an earlier page already
   * contained the ended session. In that case, its close has been published, and only Redis's entry was lost. A second
   * close would hit the next stream of the living session.
   */
  of(session: RevokedSession): string | undefined;
  /** Remembers the ended sessions of a page, once all of them are in the deny list. */
  remember(page: readonly RevokedSession[]): void;
  /**
   * Forgets the sessions that ended before that time (milliseconds since the epoch), because no page shows them any
   * more.
   */
  forget(before: number): void;
}

export function createOtherStreams(): OtherStreams {
  /** Ended sessions that were in a page and close another stream, each with the time of its end. */
  const shown = new Map<string, number>();
  return {
    of: ({ _id, revoked_also_close }) => (shown.has(_id) ? undefined : revoked_also_close),
    remember(page) {
      for (const { _id, revoked_at, revoked_also_close } of page) {
        if (revoked_also_close !== undefined) shown.set(_id, revoked_at?.getTime() ?? 0);
      }
    },
    forget(before) {
      for (const [sessionId, decidedAt] of shown) if (decidedAt < before) shown.delete(sessionId);
    },
  };
}
