import { confirmedRead } from '@auth-account/stores/fenced-sessions';
import { type Command, Option } from '@commander-js/extra-typings';
import { CommandError } from '../../cli/command-error.ts';
import { parseMoment, parseUuid } from '../../cli/parse-arguments.ts';
import type { Shell } from '../../cli/shell.ts';
import { withMongo, withStores } from '../../compose.ts';
import { orderForceLogout, reasonOption, requestIdOption, timeoutOption } from '../force-logout/order-force-logout.ts';
import { listSessions } from './list-sessions.ts';

/** Adds the commands `sessions …`. */
export function addSessionCommands(program: Command, shell: Shell): void {
  const sessions = program.command('sessions').description('devices that are logged in');
  sessions
    .command('list')
    .description("list a user's sessions")
    .addOption(new Option('--user <id|email>', 'user whose sessions are listed').makeOptionMandatory())
    .option('--revoked-since <when>', 'also list sessions revoked since this time, such as 7d', (text) =>
      parseMoment(text, shell.now()),
    )
    .action((options) =>
      shell.conclude(withMongo(shell, ({ collections }) => listSessions(collections, options, shell.now()))),
    );
  sessions
    .command('revoke')
    .description('end one session: its tokens are refused, its stream closes with 4001')
    .argument('<session_id>', 'see sessions list', parseUuid)
    .addOption(reasonOption())
    .addOption(requestIdOption())
    .addOption(timeoutOption())
    .action((session_id, asked) =>
      shell.conclude(
        withStores(shell, async ({ collections, ...redis }) => {
          const options = { ...confirmedRead, projection: { is_revoked: 1 } } as const;
          const session = await collections.sessions.findOne({ _id: session_id }, options);
          if (session === null) throw new CommandError(`There is no session ${session_id}.`);
          if (session.is_revoked) throw new CommandError(`Session ${session_id} is revoked already.`);
          return await orderForceLogout(redis, { session_id }, asked);
        }),
      ),
    );
}
