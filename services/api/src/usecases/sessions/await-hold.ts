import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@auth-account/errors';
import type { SessionDocument } from '@auth-account/stores/documents';
import { holdMs } from '@auth-account/stores/session-hold';

/** Milliseconds between two reads of a held session. */
const pauseMs = 100;
/** Limit for the refreshes of one session that wait in one process. An app has only one refresh under way. */
const maxWaiting = 2;
const retryAfterSeconds = 1;

/**
 * Returns true if no hold keeps the refresh from writing the session; usually at once. Returns false, after a pause, if
 * the session must be read again.
 */
export type AwaitHold = (session: Pick<SessionDocument, '_id' | 'hold'>) => Promise<boolean>;

/**
 * Lets refreshes wait for the end of a hold (`SessionStore.holdOf`). Each request needs its own `AwaitHold`. It raises
 * `ERR-DEPENDENCY-UNAVAILABLE` if too many refreshes of the session wait, or if new holds follow each other for
 * {@link holdMs}. If one hold remains unchanged for that time, its process must have died, so the refresh goes on. No
 * wall clock judges a hold, because those of two hosts may differ by more than a hold lasts.
 */
export function createAwaitHold(): () => AwaitHold {
  const waiting = new Map<string, number>();
  const busy = () => new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds });

  async function pause(sessionId: string): Promise<void> {
    const others = waiting.get(sessionId) ?? 0;
    if (others >= maxWaiting) throw busy();
    waiting.set(sessionId, others + 1);
    await delay(pauseMs);
    const left = (waiting.get(sessionId) ?? 1) - 1;
    if (left === 0) waiting.delete(sessionId);
    else waiting.set(sessionId, left);
  }

  return () => {
    let first: { readonly until: number; readonly seenAt: number } | undefined;
    return async ({ _id, hold }) => {
      if (hold === undefined) return true;
      const until = hold.until.getTime();
      first ??= { until, seenAt: performance.now() };
      if (performance.now() - first.seenAt >= holdMs) {
        if (until === first.until) return true;
        throw busy();
      }
      await pause(_id);
      return false;
    };
  };
}
