import type { ForceLogoutCommand } from '@auth-account/contracts';
import { awaitForceLogout, requestForceLogout } from '@auth-account/messaging';
import type { RedisStore } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { assertReason } from '../operator.ts';
import { withQueue } from './with-queue.ts';

export interface OrderOptions {
  /** Reason for the logs, without personal data. */
  readonly reason: string;
  /** Request id of the order, for the trace. */
  readonly requestId: string;
  /** Milliseconds to wait for the result. */
  readonly timeout: number;
}

type Target = { readonly user_id: string } | { readonly session_id: string };

/**
 * Orders a forced logout and waits for its result. The worker carries it out like any other forced logout, with deny
 * list, closed streams and audit log. Throws an `OperationError`: `invalid` if the reason may not go into the logs,
 * `refused` if the logout failed, and `unavailable` if there was no result in time; then the order stays in the queue.
 */
export async function orderForceLogout(
  store: RedisStore,
  target: Target,
  { reason, requestId, timeout }: OrderOptions,
): Promise<{ readonly command_id: string; readonly request_id: string; readonly sessions: number }> {
  assertReason(reason);
  return await withQueue(store, async (queue) => {
    const command = { ...target, reason, request_id: requestId } satisfies ForceLogoutCommand;
    const id = await requestForceLogout(queue, command);
    const status = await awaitForceLogout(queue, id, timeout);
    if (status?.state === 'failed') throw new OperationError('refused', `Command ${id} failed: ${status.error}`);
    if (status?.result === undefined) {
      const message = `Command ${id} was ordered, but not carried out within ${timeout / 1_000} s. Does a worker run?`;
      throw new OperationError('unavailable', message, { code: 'force_logout_pending', subject: id });
    }
    return { command_id: id, request_id: requestId, sessions: status.result.sessions };
  });
}
