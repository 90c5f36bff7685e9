import { hash, timingSafeEqual } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import { factorMethods, hasSecondFactor, trustedDevicesOf } from '@auth-account/stores/second-factors';
import type { SealedTokens } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import type { LoginMethod } from '../../audit/audit-row.ts';
import type { Ids } from '../../request/ids.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import { requestOptions } from '../proofs/passkey-options.ts';
import type { NewIdentity } from './add-identity.ts';
import { assertMayLogIn, loginRefusalOf } from './assert-may-log-in.ts';
import type { DeviceFields } from './device-name.ts';
import { type FirstChallenge, newSecondFactorChallenge, sealChallenge } from './second-factor-challenge.ts';

export interface DemandSecondFactorDeps {
  readonly sealedTokens: Pick<SealedTokens, 'seal'>;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'deviceId'>;
  /** `WEBAUTHN_RP_ID`; undefined if the service has no passkeys. */
  readonly rpId: string | undefined;
  readonly now: () => Date;
}

/** A login whose first proof was right. */
export interface HalfLogin {
  readonly method: LoginMethod;
  readonly amr: readonly string[];
  /** The challenge of the proof; undefined for a password. */
  readonly first?: FirstChallenge;
  /** Identity by which the login began. */
  readonly identityId?: string | undefined;
  /** Identity that the login links to the account. */
  readonly link?: NewIdentity | undefined;
  readonly device: DeviceFields;
  readonly trustedDeviceToken?: string | undefined;
}

/** Raises an error unless the login needs no second factor. Returns `used` if that is because the device is trusted. */
export type DemandSecondFactor = (user: PresentUser, login: HalfLogin, origin: RequestOrigin) => 'used' | undefined;

/**
 * Creates the step that follows each first proof except a passkey with user verification. If the account's second
 * factor is on and the device is not trusted, it raises `ERR-SECOND-FACTOR-REQUIRED` with a challenge, which is stored
 * nowhere. Before that it raises the errors of {@link assertMayLogIn}. It reads nothing.
 */
export function createDemandSecondFactor(deps: DemandSecondFactorDeps): DemandSecondFactor {
  const { sealedTokens, audit, ids, rpId, now } = deps;

  function assertEnabled(user: PresentUser, origin: RequestOrigin): void {
    try {
      assertMayLogIn(user);
    } catch (error) {
      const reason = loginRefusalOf(error);
      if (reason !== undefined) audit({ event: 'login.refused', user_id: user._id, reason }, origin);
      throw error;
    }
  }

  return (user, { method, amr, first, identityId, link, device, trustedDeviceToken }, origin) => {
    const at = now();
    const sentId = device.device_id?.toLowerCase();
    if (!hasSecondFactor(user)) return;
    const trust = { deviceId: sentId, token: trustedDeviceToken, jkt: provenKey(origin) };
    // Trust is for logins. Who has the password and the device's storage must not add a way in.
    if (link === undefined && isTrusted(user, trust, at)) return 'used';
    assertEnabled(user, origin);
    const half = { method, amr, first, identityId, link, device, deviceId: sentId ?? ids.deviceId() };
    const challenge = newSecondFactorChallenge(user, { ...half, jkt: trust.jkt }, at);
    audit({ event: 'login.refused', user_id: user._id, reason: 'second_factor_required' }, origin);
    const challenge_id = sealChallenge(sealedTokens, challenge);
    const methods = factorMethods(user, rpId !== undefined);
    const byPasskey = rpId !== undefined && methods.includes('passkey');
    throw new AppError('ERR-SECOND-FACTOR-REQUIRED', {
      details: {
        challenge_id,
        methods,
        expires_at: challenge.expiresAt.toISOString(),
        ...(byPasskey && { passkey_options: { ...requestOptions(rpId, challenge_id, user.passkeys) } }),
      },
    });
  };
}

/** Returns the form in which a trusted device's token is stored. */
export function trustTokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

interface SentTrust {
  readonly deviceId: string | undefined;
  readonly token: string | undefined;
  /** Key that the login has proven. */
  readonly jkt: string | undefined;
}

function isTrusted(user: PresentUser, { deviceId, token, jkt }: SentTrust, at: Date): boolean {
  const device = trustedDevicesOf(user, at).find(({ device_id }) => device_id === deviceId);
  if (device === undefined || token === undefined) return false;
  // Who has copied the app's storage does not have the device's key.
  if (device.jkt !== undefined && device.jkt !== jkt) return false;
  return timingSafeEqual(Buffer.from(device.token), Buffer.from(trustTokenHash(token)));
}
