import type { Collections } from '@auth-account/stores';
import type { IdentityDocument, UserDocument } from '@auth-account/stores/documents';
import { type Command, Option } from '@commander-js/extra-typings';
import { parseLimit } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { fieldList } from '../../cli/table.ts';
import { withMongo, withStores } from '../../compose.ts';
import { orderForceLogout, reasonOption, requestIdOption, timeoutOption } from '../force-logout/order-force-logout.ts';
import { importUsers } from '../import/import-users.ts';
import { importFormats } from '../import/read-records.ts';
import { deleteUser, graceDaysOption, restoreUser } from './delete-user.ts';
import { disableUser, enableUser } from './disable-user.ts';

import { loadUser } from './load-user.ts';
import { asOption } from './operator.ts';
import { removeSecondFactor } from './remove-second-factor.ts';
import { kindsOfSignInMethods, removeSignInMethods } from './remove-sign-in-methods.ts';
import { resetPassword } from './reset-password.ts';
import { exportUser, limitsOf, unlockUser } from './support-user.ts';

/** Adds the commands `user …`. */
export function addUserCommands(program: Command, shell: Shell): void {
  const user = program.command('user').description('accounts');
  user
    .command('show')
    .description('show an account, its group, its number of sessions, and what the limits count for it')
    .argument('<id|email>')
    .action((idOrEmail) =>
      shell.conclude(withMongo(shell, ({ collections }) => showUser(shell, collections, idOrEmail))),
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

/** Commands that change an account, in the operator's name. */
function addAccountChanges(user: Command, shell: Shell): void {
  const add = (name: string, description: string) =>
    user.command(name).description(description).argument('<id|email>').addOption(reasonOption()).addOption(asOption());
  add('disable', 'let nobody log in to an account, and end its sessions').action((idOrEmail, options) =>
    shell.conclude(disableUser(shell, idOrEmail, options)),
  );
  add('enable', 'let a disabled account log in again').action((idOrEmail, options) =>
    shell.conclude(enableUser(shell, idOrEmail, options)),
  );
  add(
    'unlock',
    'forget wrong passwords, second factors and codes asked for, so that all of them can be tried anew',
  ).action((idOrEmail, options) => shell.conclude(unlockUser(shell, idOrEmail, options)));
  add('export', 'print all data that is held about a person, as JSON').action((idOrEmail, options) =>
    shell.conclude(exportUser(shell, idOrEmail, options)),
  );
  add('delete', 'order the deletion of an account, and end its sessions; it can be restored until it is erased')
    .addOption(graceDaysOption())
    .option('--yes', 'do not ask')
    .action((idOrEmail, options) => shell.conclude(deleteUser(shell, idOrEmail, options)));
  add('restore', 'cancel the deletion of an account').action((idOrEmail, options) =>
    shell.conclude(restoreUser(shell, idOrEmail, options)),
  );
  add('reset-password', 'make the password of an account unusable until its holder resets it, and end its sessions')
    .option('--yes', 'do not ask')
    .action((idOrEmail, options) => shell.conclude(resetPassword(shell, idOrEmail, options)));
  add('remove-second-factor', 'order the removal of the second factor of an account in 72 hours, never sooner')
    .option('--stop', 'stop the removal that was ordered')
    .option('--yes', 'do not ask')
    .action((idOrEmail, options) => shell.conclude(removeSecondFactor(shell, idOrEmail, options)));
  add('remove-ways-in', 'remove all passkeys and identities of an account, and end its sessions')
    .addOption(new Option('--only <kind>', 'remove only these').choices(kindsOfSignInMethods))
    .option('--yes', 'do not ask')
    .action((idOrEmail, options) => shell.conclude(removeSignInMethods(shell, idOrEmail, options)));
}

/** Shows the user, their group, their number of sessions and their limits; never the hash. */
async function showUser(shell: Shell, collections: Collections, idOrEmail: string): Promise<Outcome> {
  const now = shell.now();
  const user = await loadUser(collections, idOrEmail);
  const live = { user_id: user._id, is_revoked: false, expires_at: { $gt: now } };
  const [group, sessions, limits] = await Promise.all([
    collections.groups.findOne({ _id: user.home_group_id }),
    collections.sessions.countDocuments(live),
    limitsOf(shell, user),
  ]);
  const json = {
    user_id: user._id,
    email: user.email,
    email_verified_at: user.email_verified_at ?? null,
    pending_email: user.pending_email ?? null,
    display_name: user.display_name ?? null,
    locale: user.locale ?? null,
    password: hashKindOf(user),
    passkeys: user.passkeys?.length ?? 0,
    identities: user.identities?.map(describeIdentity) ?? [],
    ...describeFactor(user),
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    role: user.role,
    created_at: user.created_at,
    joined_at: user.joined_at,
    last_login_at: user.last_login_at ?? null,
    password_changed_at: user.password_changed_at ?? user.created_at,
    disabled_at: user.disabled_at ?? null,
    disabled_by: user.disabled_by ?? null,
    disabled_reason: user.disabled_reason ?? null,
    deletes_at: user.deletes_at ?? null,
    group_name: group?.name ?? null,
    group_members: group?.member_count ?? null,
    live_sessions: sessions,
    ...limits,
  };
  return { json, text: fieldList(json) };
}

/** Returns the provider and what is known of the identity: `apple (revocable, relay off)`. */
function describeIdentity({ provider, refresh_token, relay_off_at, disabled_at }: IdentityDocument): string {
  const notes = [refresh_token && 'revocable', relay_off_at && 'relay off', disabled_at && 'disabled'].filter(Boolean);
  return notes.length === 0 ? provider : `${provider} (${notes.join(', ')})`;
}

function describeFactor({ totp, recovery_codes = [] }: UserDocument) {
  const { removal } = totp ?? {};
  return {
    second_factor_since: totp?.confirmed_at ?? null,
    recovery_codes: recovery_codes.length,
    second_factor_removal_due_at: removal?.due_at ?? null,
    second_factor_removal_by: removal?.by ?? null,
  };
}

/**
 * Returns the algorithm of the password's hash, such as `argon2id` or `bcrypt`, and nothing of the hash itself; `void` if
 * nobody knows the password.
 */
function hashKindOf({ password_hash, is_password_void = false }: UserDocument): string {
  if (is_password_void) return 'void';
  const kind = /^\$(argon2id?|argon2i|2[aby])\$/.exec(password_hash)?.[1] ?? 'unknown';
  return kind.startsWith('2') ? 'bcrypt' : kind;
}
