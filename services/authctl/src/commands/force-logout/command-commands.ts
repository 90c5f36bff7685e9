import type { ForceLogoutState } from '@auth-account/messaging';
import { type Command, Option } from '@commander-js/extra-typings';
import { parseLimit } from '../../cli/parse-arguments.ts';
import type { Shell } from '../../cli/shell.ts';
import { withRedis } from '../../compose.ts';
import { listCommands, showCommand } from './describe-commands.ts';

const states: readonly ForceLogoutState[] = ['waiting', 'running', 'done', 'failed'];

/** Adds the commands `commands …`, which show forced logouts, no matter which client ordered them. */
export function addCommandCommands(program: Command, shell: Shell): void {
  const commands = program.command('commands').description('forced logouts that were ordered, and their results');
  commands
    .command('list')
    .description('list the newest forced logouts; finished ones are kept for 7 days, failed ones for 30')
    .addOption(new Option('--state <state>', 'only forced logouts in this state').choices(states))
    .addOption(new Option('--limit <n>', 'list at most this many').argParser(parseLimit).default(50))
    .action(({ state, limit }) =>
      shell.conclude(withRedis(shell, (store) => listCommands(store, { states: state ? [state] : states, limit }))),
    );
  commands
    .command('show')
    .description('show one forced logout')
    .argument('<command_id>')
    .action((id) => shell.conclude(withRedis(shell, (store) => showCommand(store, id))));
}
