import { domainToASCII } from 'node:url';
import type { Filter } from 'mongodb';
import type { UserDocument } from '../documents.ts';

/**
 * The key under which an email address is unique: A to Z in lower case (docs/specification/registration.md, "Steps").
 * No other letter is changed. Some Unicode letters, such as the kelvin sign, have an ASCII letter as their lower case,
 * and no account's email address contains such a letter.
 */
export function emailKey(email: string): string {
  return email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Characters that show nothing, and come with an email address that was copied. */
const unseen = /\p{Cf}/gu;
/** A host name with letters beyond ASCII, and no ASCII that would mean something else in a URL. */
const international = /^(?=.*\P{ASCII})[A-Za-z0-9.\-\P{ASCII}]+$/u;

/**
 * Returns an email address as its user means it: without white space around it, without characters that show nothing,
 * and with an international domain in its `xn--` form (UTS 46). It may be no email address.
 */
export function emailAsMeant(text: string): string {
  const email = text.replaceAll(unseen, '').trim();
  const at = email.lastIndexOf('@') + 1;
  const domain = email.slice(at);
  return at > 0 && international.test(domain) ? `${email.slice(0, at)}${domainToASCII(domain) || domain}` : email;
}

/**
 * Filter for the account that has the email address or can still get it back. No other account can have the address.
 */
export function holderOf(email: string, now: Date): Filter<UserDocument> {
  const email_key = emailKey(email);
  return { $or: [{ email_key }, { former_emails: { $elemMatch: { email_key, until: { $gt: now } } } }] };
}
