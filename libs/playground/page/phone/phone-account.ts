import type { AuthenticatorEntry } from './authenticator.ts';
import type { Owner } from './traffic.ts';

/** The values that a phone's owner has entered. They are kept over a reload of the page. */
export interface PhoneAccount {
  readonly email: string;
  readonly password: string;
  /** True once the account was registered. */
  readonly exists: boolean;
  /** Entry of the owner's authenticator app, if the account's second factor is on. */
  readonly authenticator?: AuthenticatorEntry | undefined;
}

const nameOf = (owner: Owner) => `account-of-${owner}`;

/** Returns an email address that nobody has, under a domain to which no mail is sent (RFC 2606). */
export function newEmail(owner: Owner): string {
  return `${owner}-${crypto.randomUUID().slice(0, 6)}@example.com`;
}

export function readAccount(owner: Owner): PhoneAccount {
  const stored = sessionStorage.getItem(nameOf(owner));
  return stored ? JSON.parse(stored) : { email: newEmail(owner), password: 'a fridge and two shelves', exists: false };
}

export function writeAccount(owner: Owner, account: PhoneAccount): void {
  sessionStorage.setItem(nameOf(owner), JSON.stringify(account));
}
