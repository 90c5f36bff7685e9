import type { Owner } from './traffic.ts';

/** Entries of a phone's owner, kept so that a reload of the page forgets nothing. */
export interface PhoneAccount {
  readonly email: string;
  readonly password: string;
  /** True once the account was registered. */
  readonly exists: boolean;
}

const nameOf = (owner: Owner) => `account-of-${owner}`;

/** An address that nobody has, under a domain that no mail leaves for (RFC 2606). */
export function newAddress(owner: Owner): string {
  return `${owner}-${crypto.randomUUID().slice(0, 6)}@example.com`;
}

export function readAccount(owner: Owner): PhoneAccount {
  const stored = sessionStorage.getItem(nameOf(owner));
  return stored
    ? JSON.parse(stored)
    : { email: newAddress(owner), password: 'a fridge and two shelves', exists: false };
}

export function writeAccount(owner: Owner, account: PhoneAccount): void {
  sessionStorage.setItem(nameOf(owner), JSON.stringify(account));
}
