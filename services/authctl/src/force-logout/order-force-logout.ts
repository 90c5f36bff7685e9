import { randomUUID } from 'node:crypto';
import type { ForceLogoutCommand } from '@auth-account/contracts';
import { awaitForceLogout, openForceLogoutQueue, requestForceLogout } from '@auth-account/messaging';
import { CommandError } from '../cli/command-error.ts';
import { exitCodes } from '../cli/exit-codes.ts';
import type { Outcome } from '../cli/outcome.ts';
import type { RedisStore } from '../compose.ts';

export interface OrderOptions {
  readonly reason: string;
  readonly requestId?: string | undefined;
  /** Milliseconds for which the result is waited for. */
  readonly timeout: number;
}

type Target = { readonly user_id: string } | { readonly session_id: string };

/**
 * Orders a forced logout and waits for its result. The worker carries it out: so the deny list, the closes and the audit
 * log are as with any other. Throws a `CommandError` where it failed, or where there was no result in time.
 */
export async function orderForceLogout(
  { redis, keys }: RedisStore,
  target: Target,
  { reason, requestId = `authctl-${randomUUID()}`, timeout }: OrderOptions,
): Promise<Outcome> {
  const queue = openForceLogoutQueue(redis, keys);
  // What goes wrong is told by the calls themselves.
  queue.on('error', () => undefined);
  try {
    const command = { ...target, reason, request_id: requestId } satisfies ForceLogoutCommand;
    const id = await requestForceLogout(queue, command);
    const status = await awaitForceLogout(queue, id, timeout);
    if (status?.state === 'failed') throw new CommandError(`Command ${id} failed: ${status.error}`);
    if (status?.result === undefined) {
      const message = `Command ${id} was ordered, but not carried out within ${timeout / 1_000} s. Does a worker run? See authctl commands show ${id}`;
      throw new CommandError(message, { exitCode: exitCodes.unavailable });
    }
    const { sessions } = status.result;
    const json = { command_id: id, request_id: requestId, sessions };
    return { json, text: `Sessions ended: ${sessions}. Request id: ${requestId}` };
  } finally {
    await queue.close();
  }
}
