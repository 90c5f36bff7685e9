import { eventOrigin } from '@auth-account/messaging';
import { secondFactorChangedEvents } from '@auth-account/messaging/account-events';
import type { DenyList } from '@auth-account/messaging/deny-list';
import type { OutboxStore, RunTransaction, SessionStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { DueRemoval, FactorRemovalStore } from '@auth-account/stores/factor-removals';

export interface RemoveFactorsDeps {
  readonly factorRemovals: Pick<FactorRemovalStore, 'listDue' | 'carryOut'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly sessions: Pick<SessionStore, 'listLive' | 'revokeAll' | 'holdOf'>;
  readonly outbox: Pick<OutboxStore, 'append' | 'exists'>;
  readonly transaction: RunTransaction;
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  /** Called after the commit. */
  readonly onRemoved: (due: DueRemoval, sessionIds: readonly string[], requestId: string) => void;
  /** Called if a removal failed, or if its ended sessions were not denied, which the reconciliation then does. */
  readonly onFailed: (userId: string, error: unknown) => void;
  /** UUIDv7. */
  readonly newEventId: () => string;
  readonly newRequestId: () => string;
  readonly now: () => Date;
}

/** Reason with which the sessions end, as if their user had switched the factor off. */
export const endReason = 'revoked_by_user';

/** Margin for clocks that differ, in ms. No removal comes sooner than it was ordered for, by the clock of any api. */
const graceMs = 60_000;

/** Limit for the accounts that are read at once. */
const batch = 100;

/**
 * Runs one round, which carries out each removal of a second factor that is due: the factor goes, open codes end, and
 * so do the sessions that were opened before it was due. From that time on no api counts the factor, so a late round
 * lets nobody wait. Each removal is one conditional write, so workers need no lease.
 */
export function createRemoveFactors(deps: RemoveFactorsDeps): () => Promise<void> {
  const { factorRemovals, onFailed, now } = deps;
  const remove = createRemove(deps);

  return async () => {
    const by = new Date(now().getTime() - graceMs);
    let failed = 0;
    for (;;) {
      const found = await factorRemovals.listDue(by, { skip: failed, limit: batch });
      for (const due of found) {
        await remove(due).catch((error: unknown) => {
          failed += 1;
          onFailed(due.userId, error);
        });
      }
      if (found.length < batch) return;
    }
  };
}

function createRemove(deps: RemoveFactorsDeps) {
  const { factorRemovals, challenges, sessions, outbox, transaction, denyList, onRemoved, onFailed, now } = deps;

  return async (due: DueRemoval): Promise<void> => {
    const { userId, removal, locale = 'en' } = due;
    const at = now();
    const requestId = deps.newRequestId();
    const data = { user_id: userId, change: 'switched_off', locale, recovery_codes_left: 0 } as const;
    const events = secondFactorChangedEvents(data, () => eventOrigin({ requestId }, at, { entityId: deps.newEventId }));
    const ended = await transaction(
      async (session) => {
        // This is the first write, so a concurrent login conflicts and is not missed.
        if (!(await factorRemovals.carryOut(due, at, session))) return;
        await challenges.endAll(userId, at, session);
        const live = await sessions.listLive(userId, session);
        const earlier = live.filter(({ created_at }) => created_at < removal.due_at).map(({ _id }) => _id);
        await sessions.revokeAll(earlier, { reason: endReason, at, requestId }, session);
        for (const event of events) await outbox.append(event, at, session);
        return earlier;
      },
      { isCommitted: () => outbox.exists(events[0].id), hold: sessions.holdOf([userId]) },
    );
    // Another worker was faster, or it was stopped, or the user has replaced the factor since.
    if (ended === undefined) return;
    onRemoved(due, ended, requestId);
    const denial = { kind: 'revoked', reason: 'SESSION_REVOKED' } as const;
    const entries = ended.map((sessionId) => ({ sessionId, denial, requestId, decidedAt: at.getTime() }));
    await denyList.denyAndClose(entries).catch((error: unknown) => onFailed(userId, error));
  };
}
