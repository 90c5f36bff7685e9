import {
  type ForceLogoutJobStatus,
  type ForceLogoutState,
  findForceLogout,
  listForceLogouts,
} from '@auth-account/messaging';
import type { RedisStore } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { withQueue } from './with-queue.ts';

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
