import type { Collections } from './collections.ts';
import { type Credentials, credentialsVersion, unchangedSince } from './credentials.ts';
import type { PendingTotp, TrustedDevice, UserDocument } from './documents.ts';

/** Fields of the user's document that the second factor consists of. */
export const secondFactorFields = ['totp', 'pending_totp', 'recovery_codes', 'trusted_devices'] as const;

/**
 * Returns the devices whose logins need no second factor at that time, the latest first. A change of a way in has ended
 * the trust in all earlier ones.
 */
export function trustedDevicesOf(user: UserDocument, at: Date): TrustedDevice[] {
  const version = credentialsVersion(user);
  return (user.trusted_devices ?? []).filter((each) => each.version === version && each.until > at).toReversed();
}

/** Second factors of accounts. They are fields of the user's document. */
export interface SecondFactorStore {
  /**
   * Stores an authenticator app that must still be confirmed. Returns false, and stores nothing, if a way in has been
   * changed since the account was read.
   */
  enrol(seen: Credentials, pending: PendingTotp): Promise<boolean>;
}

export function createSecondFactorStore({ users }: Collections): SecondFactorStore {
  return {
    async enrol(seen, pending_totp) {
      return (await users.updateOne(unchangedSince(seen), { $set: { pending_totp } })).matchedCount === 1;
    },
  };
}
