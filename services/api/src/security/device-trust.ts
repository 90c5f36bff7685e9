import { hash, timingSafeEqual } from 'node:crypto';
import type { PresentUser } from '@auth-account/stores';
import { credentialsVersion, nextChangeOfMethods } from '@auth-account/stores/credentials';
import type { TrustedDevice } from '@auth-account/stores/documents';
import { trustedDevicesOf } from '@auth-account/stores/second-factors';

/** Milliseconds for which a device is trusted. */
const trustMs = 30 * 86_400_000;

/** A login after which its device is trusted. */
export interface TrustingLogin {
  readonly deviceId: string;
  /** The token that the device gets. */
  readonly token: string;
  /** Key that the login has proven. */
  readonly jkt?: string | undefined;
  readonly identityId?: string | undefined;
  /** Identity that the login links to the account. That ends the trust in all devices but this one. */
  readonly link?: unknown;
  readonly at: Date;
}

/** Returns the trust in the device of the login. */
export function trustIn(
  user: PresentUser,
  { deviceId, token, jkt, identityId, link, at }: TrustingLogin,
): TrustedDevice {
  const after = link === undefined ? user : { ...user, ways_changed_at: nextChangeOfMethods(user, at) };
  return {
    device_id: deviceId,
    token: trustTokenHash(token),
    ...(jkt && { jkt }),
    ...(identityId && { identity_id: identityId }),
    version: credentialsVersion(after),
    trusted_at: at,
    until: new Date(at.getTime() + trustMs),
  };
}

/** Device of a login, with the signs of the trust in it. */
export interface ShownTrust {
  readonly deviceId: string | undefined;
  readonly token: string | undefined;
  /** Key that the login has proven. */
  readonly jkt: string | undefined;
}

/** Returns true if the account trusts the device now. */
export function isTrusted(user: PresentUser, { deviceId, token, jkt }: ShownTrust, at: Date): boolean {
  const device = trustedDevicesOf(user, at).find(({ device_id }) => device_id === deviceId);
  if (device === undefined || token === undefined) return false;
  // Who has copied the app's storage does not have the device's key.
  if (device.jkt !== undefined && device.jkt !== jkt) return false;
  return timingSafeEqual(Buffer.from(device.token), Buffer.from(trustTokenHash(token)));
}

/** Returns the form in which a trusted device's token is stored. */
export function trustTokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}
