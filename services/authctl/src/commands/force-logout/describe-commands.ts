import {
  type ForceLogoutJobStatus,
  type ForceLogoutQueue,
  type ForceLogoutState,
  findForceLogout,
  listForceLogouts,
  openForceLogoutQueue,
} from '@auth-account/messaging';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome } from '../../cli/shell.ts';
import { fieldList, table } from '../../cli/table.ts';
import type { RedisStore } from '../../compose.ts';

/** Lists the forced logouts with these states, newest first. */
export function listCommands(
  store: RedisStore,
  { states, limit }: { readonly states: readonly ForceLogoutState[]; readonly limit: number },
): Promise<Outcome> {
  return withQueue(store, async (queue) => {
    const found = await Promise.all(states.map((state) => listForceLogouts(queue, state, limit)));
    const newestFirst = found.flat().sort((a, b) => b.orderedAt.getTime() - a.orderedAt.getTime());
    const commands = newestFirst.slice(0, limit).map(toView);
    const rows = commands.map(({ id, state, target, reason, ordered_at, sessions, error }) => [
      id,
      state,
      target,
      ordered_at,
      sessions,
      error ?? reason,
    ]);
    const text =
      rows.length === 0
        ? 'No commands.'
        : table(['command', 'state', 'target', 'ordered', 'sessions', 'reason or error'], rows);
    return { json: { commands }, text };
  });
}

/** Shows one forced logout. Throws a `CommandError` if the id is unknown. */
export function showCommand(store: RedisStore, id: string): Promise<Outcome> {
  return withQueue(store, async (queue) => {
    const status = await findForceLogout(queue, id);
    if (status === undefined) throw new CommandError(`There is no command ${id}.`);
    const json = toView(status);
    return { json, text: fieldList(json) };
  });
}

async function withQueue(
  { redis, keys }: RedisStore,
  work: (queue: ForceLogoutQueue) => Promise<Outcome>,
): Promise<Outcome> {
  const queue = openForceLogoutQueue(redis, keys);
  // Errors are ignored here, because the calls themselves report them.
  queue.on('error', () => undefined);
  return await work(queue).finally(() => queue.close());
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
