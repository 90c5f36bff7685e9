import { hash } from 'node:crypto';
import type { Filter } from 'mongodb';
import type { IdentityDocument, UserDocument } from '../documents.ts';
import type { ChangedFields } from './method-removal.ts';

/** The part of the user's document that shows whether a verified proof still counts. */
export type Credentials = Pick<UserDocument, '_id' | 'email_key' | 'password_changed_at' | 'ways_changed_at'>;

/** The same part, for a login that an identity has begun. */
export type CredentialsAndIdentities = Credentials & Pick<UserDocument, 'identities'>;

/**
 * Returns true if neither the email address nor a sign-in method was changed between the two reads of the user's
 * document. A login by an identity names it: a security event of its provider changes nothing for the other methods.
 */
export function hasSameCredentials(
  a: CredentialsAndIdentities,
  b: CredentialsAndIdentities,
  identityId?: string,
): boolean {
  return versionText(a, identityId) === versionText(b, identityId);
}

/** Filter for the account, if neither its email address nor a sign-in method was changed since it was read. */
export function unchangedSince({
  _id,
  email_key,
  password_changed_at,
  ways_changed_at,
}: Credentials): Filter<UserDocument> {
  const absent = { $exists: false };
  return {
    _id,
    email_key,
    password_changed_at: password_changed_at ?? absent,
    ways_changed_at: ways_changed_at ?? absent,
  };
}

/** Sign-in methods that the service has now, besides the password. */
export interface OfferedMethods {
  readonly passkeys: boolean;
  /** Names of the providers. */
  readonly providers: Pick<ReadonlySet<string>, 'has'>;
}

/**
 * Returns true if the account's user can log in without the method of that id: by a password that somebody knows, a
 * passkey or an identity. One that the provider has disabled, or that the service does not take now, is none.
 */
export function hasOtherSignInMethod(
  {
    is_password_void = false,
    passkeys = [],
    identities = [],
  }: Pick<UserDocument, 'is_password_void' | 'passkeys' | 'identities'>,
  id: string,
  offered: OfferedMethods,
): boolean {
  const enabled = identities.filter(
    ({ provider, disabled_at }) => disabled_at === undefined && offered.providers.has(provider),
  );
  const usable = [...(offered.passkeys ? passkeys : []), ...enabled];
  return !is_password_void || usable.some((signInMethod) => signInMethod.id !== id);
}

/**
 * Returns a text that differs after every change of the email address, the password or another sign-in method.
 * Challenges and trusted devices carry it, so such a change ends all of them without a write. With an identity, the
 * text also differs after a security event of its provider that has ended what the identity had opened.
 */
export function credentialsVersion(user: CredentialsAndIdentities, identityId?: string): string {
  return hash('sha256', versionText(user, identityId), 'base64url').slice(0, 22);
}

/**
 * Returns the time that a change of another sign-in method writes. It is later than that of the change before, so that
 * the account's version differs.
 */
export function nextChangeOfMethods({ ways_changed_at }: Credentials, at: Date): Date {
  return laterThan(ways_changed_at, at);
}

/** Returns the time that a security event writes if it ends what the identity has opened. */
export function nextEndOf({ ended_at }: Pick<IdentityDocument, 'ended_at'>, at: Date): Date {
  return laterThan(ended_at, at);
}

const laterThan = (before: Date | undefined, at: Date) =>
  new Date(Math.max(at.getTime(), (before?.getTime() ?? 0) + 1));

function versionText(
  { email_key, password_changed_at, ways_changed_at, identities = [] }: CredentialsAndIdentities,
  identityId?: string,
): string {
  const identity = identities.find(({ id }) => id === identityId);
  const { ended_at, disabled_at } = identity ?? {};
  const opener = identityId === undefined ? [] : [identity?.id, ended_at?.getTime(), disabled_at?.getTime()];
  return JSON.stringify([email_key, password_changed_at?.getTime(), ways_changed_at?.getTime(), ...opener]);
}

/** Milliseconds in which an account's recoveries give its counts back once. */
const givenBackMs = 72 * 3_600_000;

/**
 * Returns the field by which a recovery begins the counts of the account's limits anew. It does so once in 72 hours,
 * because somebody who holds the mailbox may repeat it at will. Recoveries since `since` do not matter, because the thief
 * from whom the account is recovered may have made them.
 */
export function countsAnew(
  { recovered_at: last }: Pick<UserDocument, 'recovered_at'>,
  at: Date,
  since?: Date,
): Pick<UserDocument, 'recovered_at'> {
  const isDue = last === undefined || at.getTime() - last.getTime() >= givenBackMs;
  return isDue || (since !== undefined && last >= since) ? { recovered_at: at } : {};
}

/**
 * Returns the fields that every change of the password writes. All codes of the account end. A requested change of the
 * email address lapses, because it needs such a code. The account's devices are forgotten, so that the next login of
 * each device is reported as new. `isUnusable`: nobody knows the new password.
 */
export function passwordFields(
  password_hash: string,
  { pending_email_until, is_password_void = false }: Pick<UserDocument, 'pending_email_until' | 'is_password_void'>,
  at: Date,
  isUnusable = false,
): ChangedFields {
  const lapsed = pending_email_until && { pending_email_until: at };
  const revoked = (isUnusable || is_password_void) && { is_password_void: isUnusable };
  return { password_hash, password_changed_at: at, known_devices: [], ...lapsed, ...revoked };
}
