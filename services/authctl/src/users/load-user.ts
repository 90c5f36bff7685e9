import { type Collections, emailKey } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { CommandError } from '../cli/command-error.ts';

/** Returns the user with that id or e-mail address. Throws a `CommandError` if there is none. */
export async function loadUser({ users }: Pick<Collections, 'users'>, idOrEmail: string): Promise<UserDocument> {
  const filter = idOrEmail.includes('@') ? { email_key: emailKey(idOrEmail) } : { _id: idOrEmail.toLowerCase() };
  const user = await users.findOne(filter);
  if (user === null) throw new CommandError(`There is no user ${idOrEmail}.`);
  return user;
}
