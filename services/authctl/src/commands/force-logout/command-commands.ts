import { commandStates, listCommands, showCommand } from '@auth-account/operations/commands';
import { type Command, Option } from '@commander-js/extra-typings';
import { parseLimit } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { fieldList, table } from '../../cli/table.ts';
import { withRedis } from '../../compose.ts';

/** Adds the commands `commands …`, which show forced logouts, no matter which client ordered them. */
export function addCommandCommands(program: Command, shell: Shell): void {
  const commands = program.command('commands').description('forced logouts that were ordered, and their results');
  commands
    .command('list')
    .description('list the newest forced logouts; finished ones are kept for 7 days, failed ones for 30')
    .addOption(new Option('--state <state>', 'only forced logouts in this state').choices(commandStates))
    .addOption(new Option('--limit <n>', 'list at most this many').argParser(parseLimit).default(50))
    .action((options) => shell.conclude(list(withRedis(shell, (store) => listCommands(store, options)))));
  commands
    .command('show')
    .description('show one forced logout')
    .argument('<command_id>')
    .action((id) => shell.conclude(show(withRedis(shell, (store) => showCommand(store, id)))));
}

async function list(listed: ReturnType<typeof listCommands>): Promise<Outcome> {
  const json = await listed;
  const rows = json.commands.map(({ id, state, target, reason, ordered_at, sessions, error }) => [
    id,
    state,
    target,
    ordered_at,
    sessions,
    error ?? reason,
  ]);
  const head = ['command', 'state', 'target', 'ordered', 'sessions', 'reason or error'];
  return { json, text: rows.length === 0 ? 'No commands.' : table(head, rows) };
}

async function show(shown: ReturnType<typeof showCommand>): Promise<Outcome> {
  const json = await shown;
  return { json, text: fieldList(json) };
}
