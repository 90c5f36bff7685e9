import { type Collections, emailAsMeant, emailKey } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { confirmedRead } from '@auth-account/stores/fenced-sessions';
import { CommandError } from '../../cli/command-error.ts';

/**
 * Returns the user with that id or email address, as a majority of the members has it, so that a command prints nothing
 * that can be rolled back. Throws a `CommandError` if there is no such user.
 */
export async function loadUser({ users }: Pick<Collections, 'users'>, idOrEmail: string): Promise<UserDocument> {
  const filter = idOrEmail.includes('@')
    ? { email_key: emailKey(emailAsMeant(idOrEmail)) }
    : { _id: idOrEmail.toLowerCase() };
  const user = await users.findOne(filter, confirmedRead);
  if (user === null) throw new CommandError(`There is no user ${idOrEmail}.`);
  return user;
}
