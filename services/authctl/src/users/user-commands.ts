import { type Command, Option } from '@commander-js/extra-typings';
import { parseLimit } from '../cli/parse-limit.ts';
import type { Shell } from '../cli/shell.ts';
import { withMongo, withStores } from '../compose.ts';
import { orderForceLogout } from '../force-logout/order-force-logout.ts';
import { reasonOption, requestIdOption, timeoutOption } from '../force-logout/order-options.ts';
import { importUsers } from '../import/import-users.ts';
import { importFormats } from '../import/read-records.ts';
import { loadUser } from './load-user.ts';
import { showUser } from './show-user.ts';

/** `user …` */
export function addUserCommands(program: Command, shell: Shell): void {
  const user = program.command('user').description('accounts');
  user
    .command('show')
    .description('an account, its group and how many sessions it has')
    .argument('<id|email>')
    .action((idOrEmail) =>
      shell.conclude(withMongo(shell, ({ collections }) => showUser(collections, idOrEmail, shell.now()))),
    );
  user
    .command('logout')
    .description('end all sessions of an account')
    .argument('<id|email>')
    .addOption(reasonOption())
    .addOption(requestIdOption())
    .addOption(timeoutOption())
    .action((idOrEmail, options) =>
      shell.conclude(
        withStores(shell, async ({ collections, ...redis }) => {
          const { _id: user_id } = await loadUser(collections, idOrEmail);
          return await orderForceLogout(redis, { user_id }, options);
        }),
      ),
    );
  user
    .command('import')
    .description('make accounts from a file of e-mail addresses and password hashes (see docs/authctl.md)')
    .argument('<file>', 'CSV with a header line, or JSON Lines')
    .addOption(new Option('--format <format>', 'in place of what the name ends in').choices(importFormats))
    .addOption(new Option('--batch <n>', 'accounts per transaction').argParser(parseLimit).default(500))
    .option('--group-namespace <text>', 'tells the group keys of this source from those of others', '')
    .option('--emit-events', 'tell subscribers of each account, as of a registration')
    .option('--dry-run', 'check every line and write nothing')
    .action((file, options) =>
      shell.conclude(withMongo(shell, (mongo) => importUsers({ ...mongo, shell }, file, options))),
    );
}
