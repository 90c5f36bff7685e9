import type { Filter } from 'mongodb';
import type { UserDocument } from './documents.ts';

/**
 * The key under which an address is unique: A to Z in lower case (docs/specification/registration.md, "Steps"). No
 * other letter is changed. Some Unicode letters, such as the kelvin sign, have an ASCII letter as their lower case, and
 * no account's address contains such a letter.
 */
export function emailKey(email: string): string {
  return email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Filter for the account that has the address or can still get it back. No other account can have the address. */
export function holderOf(email: string, now: Date): Filter<UserDocument> {
  const email_key = emailKey(email);
  return { $or: [{ email_key }, { former_emails: { $elemMatch: { email_key, until: { $gt: now } } } }] };
}
