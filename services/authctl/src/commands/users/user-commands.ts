import { showAccount } from '@auth-account/operations/accounts';
import { planEndSessions } from '@auth-account/operations/sessions';
import { type Command, Option } from '@commander-js/extra-typings';
import { parseLimit } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { fieldList } from '../../cli/table.ts';
import { withMongo, withStores } from '../../compose.ts';
import { order, reasonOption, requestIdOption, timeoutOption } from '../force-logout/order-options.ts';
import { importUsers } from '../import/import-users.ts';
import { importFormats } from '../import/read-records.ts';
import { addAccountChanges } from './account-changes.ts';
import { withCounts } from './with-counts.ts';

/** Adds the commands `user …`. */
export function addUserCommands(program: Command, shell: Shell): void {
  const user = program.command('user').description('accounts');
  user
    .command('show')
    .description('show an account, its group, its number of sessions, and what the limits count for it')
    .argument('<id|email>')
    .action((idOrEmail) => shell.conclude(showUser(shell, idOrEmail)));
  user
    .command('logout')
    .description('end all sessions of an account')
    .argument('<id|email>')
    .addOption(reasonOption())
    .addOption(requestIdOption())
    .addOption(timeoutOption())
    .action((idOrEmail, given) =>
      shell.conclude(
        withStores(shell, (stores) =>
          order(stores, given, (context, options) => planEndSessions(context, idOrEmail, options)),
        ),
      ),
    );
  addAccountChanges(user, shell);
  user
    .command('import')
    .description('create accounts from a file of email addresses and password hashes (see docs/authctl.md)')
    .argument('<file>', 'CSV with a header line, or JSON Lines')
    .addOption(
      new Option('--format <format>', "format of the file; default: by the file's name").choices(importFormats),
    )
    .addOption(new Option('--batch <n>', 'accounts per transaction').argParser(parseLimit).default(500))
    .option(
      '--group-namespace <text>',
      'text that separates the group keys of this source from those of other sources',
      '',
    )
    .option('--emit-events', 'send subscribers an event for each account, as for a registration')
    .option('--dry-run', 'check every line and write nothing')
    .action((file, options) =>
      shell.conclude(withMongo(shell, (mongo) => importUsers({ ...mongo, shell }, file, options))),
    );
}

async function showUser(shell: Shell, idOrEmail: string): Promise<Outcome> {
  const json = await withMongo(shell, ({ collections }) =>
    showAccount({ collections, now: shell.now, useCounts: (work) => withCounts(shell, work) }, idOrEmail),
  );
  return { json, text: fieldList(json) };
}
