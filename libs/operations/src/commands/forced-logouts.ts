import type { ForceLogoutCommand } from '@auth-account/contracts';
import {
  awaitForceLogout,
  type ForceLogoutJobStatus,
  type ForceLogoutQueue,
  type ForceLogoutState,
  findForceLogout,
  listForceLogouts,
  openForceLogoutQueue,
  requestForceLogout,
} from '@auth-account/messaging';
import type { RedisStore, Use } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { assertReason } from '../operator.ts';

export interface OrderOptions {
  /** Reason for the logs, without personal data. */
  readonly reason: string;
  /** Request id of the order, for the trace. */
  readonly requestId: string;
  /** Milliseconds to wait for the result. */
  readonly timeout: number;
}

type Target = { readonly user_id: string } | { readonly session_id: string };

/** The result of a forced logout. */
export interface ForcedLogout {
  readonly command_id: string;
  readonly request_id: string;
  /** Number of sessions that it has ended. */
  readonly sessions: number;
}

/**
 * Orders a forced logout and waits for its result. The worker carries it out like any other forced logout, with deny
 * list, closed streams and audit log. Throws an `OperationError`: `invalid` if the reason may not go into the logs,
 * `refused` if the logout failed, and `unavailable` if there was no result in time; then the order stays in the queue.
 */
export async function orderForceLogout(
  useQueue: Use<ForceLogoutQueue>,
  target: Target,
  { reason, requestId, timeout }: OrderOptions,
): Promise<ForcedLogout> {
  assertReason(reason);
  return await useQueue(async (queue) => {
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

export const commandStates: readonly ForceLogoutState[] = ['waiting', 'running', 'done', 'failed'];

/** Lists the newest forced logouts, of one state or of all, no matter which program ordered them. */
export function listCommands(
  store: RedisStore,
  { state, limit }: { readonly state?: ForceLogoutState | undefined; readonly limit: number },
) {
  return withQueue(store, async (queue) => {
    const states = state === undefined ? commandStates : [state];
    const found = await Promise.all(states.map((each) => listForceLogouts(queue, each, limit)));
    const newestFirst = found.flat().sort((a, b) => b.orderedAt.getTime() - a.orderedAt.getTime());
    return { commands: newestFirst.slice(0, limit).map(toView) };
  });
}

/** Returns one forced logout. Throws an `OperationError` of the kind `unknown` if there is none with that id. */
export function showCommand(store: RedisStore, id: string) {
  return withQueue(store, async (queue) => {
    const status = await findForceLogout(queue, id);
    if (status === undefined) throw new OperationError('unknown', `There is no command ${id}.`);
    return toView(status);
  });
}

function toView(status: ForceLogoutJobStatus) {
  const { command } = status;
  return {
    id: status.id,
    state: status.state,
    target: targetOf(command),
    reason: command?.reason ?? null,
    request_id: command?.request_id ?? null,
    ordered_at: status.orderedAt,
    finished_at: status.finishedAt ?? null,
    attempts: status.attempts,
    sessions: status.result?.sessions ?? null,
    is_repeat: status.result === undefined ? null : status.result.kind === 'repeated',
    error: status.error ?? null,
  };
}

function targetOf(command: ForceLogoutJobStatus['command']): string | null {
  if (command === undefined) return null;
  if ('user_id' in command) return `user ${command.user_id}`;
  if ('session_id' in command) return `session ${command.session_id}`;
  return `group ${command.home_group_id}`;
}

/** Opens the queue of forced logouts for the work, and closes it afterwards. */
export async function withQueue<T>(
  { redis, keys }: Pick<RedisStore, 'redis' | 'keys'>,
  work: (queue: ForceLogoutQueue) => Promise<T>,
): Promise<T> {
  const queue = openForceLogoutQueue(redis, keys);
  // Errors are ignored here, because the calls themselves report them.
  queue.on('error', () => undefined);
  return await work(queue).finally(() => queue.close());
}
