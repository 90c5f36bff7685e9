import { emailAsMeant, emailKey } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { confirmedRead } from '@auth-account/stores/fenced-sessions';
import type { Mongo } from '../context.ts';
import { OperationError } from '../operation-error.ts';

/**
 * Returns the account with that id or email address, as a majority of the members has it, so that an operator sees
 * nothing that can be rolled back. Throws an `OperationError` of the kind `unknown` if there is no such account.
 */
export async function loadAccount(
  { users }: Pick<Mongo['collections'], 'users'>,
  idOrEmail: string,
): Promise<UserDocument> {
  const filter = idOrEmail.includes('@')
    ? { email_key: emailKey(emailAsMeant(idOrEmail)) }
    : { _id: idOrEmail.toLowerCase() };
  const user = await users.findOne(filter, confirmedRead);
  if (user === null) throw new OperationError('unknown', `There is no user ${idOrEmail}.`);
  return user;
}
