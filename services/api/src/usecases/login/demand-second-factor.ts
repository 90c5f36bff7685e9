import { randomBytes } from 'node:crypto';
import type { Platform } from '@auth-account/contracts/http/login';
import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import { factorMethods, hasSecondFactor } from '@auth-account/stores/second-factors';
import type { SealedTokens } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import type { LoginMethod } from '../../audit/audit-row.ts';
import type { Ids } from '../../request/ids.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import { isTrusted } from '../../security/device-trust.ts';
import { requestOptions } from '../../security/passkeys/passkey-verifier.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import type { DeviceFields } from './new-device.ts';
import { assertMayLogIn, isFirstProof, loginRefusalOf, type NewIdentity, type ProvedLogin } from './proved-login.ts';

export interface DemandSecondFactorDeps {
  readonly sealedTokens: Pick<SealedTokens, 'seal'>;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'deviceId'>;
  /** `WEBAUTHN_RP_ID`; undefined if the service has no passkeys. */
  readonly rpId: string | undefined;
  readonly now: () => Date;
}

/** Raises an error unless the login needs no second factor. Returns `used` if that is because the device is trusted. */
export type DemandSecondFactor = (login: ProvedLogin, origin: RequestOrigin) => 'used' | undefined;

/**
 * The step after each proof by one factor. If the account's second factor is on and the device is not trusted, it
 * raises `ERR-SECOND-FACTOR-REQUIRED` with a challenge, which is stored nowhere. Before that it raises the errors of
 * {@link assertMayLogIn}. It reads nothing. A login that takes the account back from somebody else needs no second
 * factor, because it ends that factor too.
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

  return (login, origin) => {
    const { seen: user, device, auth, challengeUses: [first] = [], method, identityId, link } = login;
    if (auth.acr === '2' || isFirstProof(login) || !hasSecondFactor(user)) return;
    const at = now();
    const deviceId = device.device_id?.toLowerCase();
    const jkt = provenKey(origin);
    // Trust is for logins. Who has the password and the device's storage must not add a sign-in method.
    if (link === undefined && isTrusted(user, { deviceId, token: device.trusted_device_token, jkt }, at)) return 'used';
    assertEnabled(user, origin);
    const begun = { method, amr: auth.amr, first, identityId, link, device, deviceId: deviceId ?? ids.deviceId(), jkt };
    const challenge = newSecondFactorChallenge(user, begun, at);
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

/** The challenge of a login's first proof. */
export type FirstChallenge = Pick<ChallengeUse, 'id' | 'until'>;

/** Content of a challenge for the second factor of a login. It is stored nowhere until it is used. */
export interface SecondFactorChallenge {
  /** Random id. */
  readonly id: string;
  readonly userId: string;
  /**
   * The account's version. A change of a sign-in method ends the challenge, as does a security event about the
   * identity.
   */
  readonly version: string;
  /** The method with which the login began, and its methods of RFC 8176. */
  readonly method: LoginMethod;
  readonly amr: readonly string[];
  readonly device: DeviceFields;
  /** Id of the device that the session will belong to. It was made up if the app sent none. */
  readonly deviceId: string;
  /** Challenge of the first proof, which the second one uses up; undefined after a password. */
  readonly first: FirstChallenge | undefined;
  /** Identity by which the login began. */
  readonly identityId: string | undefined;
  /** Identity that the login links to the account. */
  readonly link: NewIdentity | undefined;
  /** Key that the login has proven, to which the session will be bound. */
  readonly jkt: string | undefined;
  /**
   * The token that the device gets if it is to be trusted. It is made with the challenge, so that a repeated
   * confirmation gets the same one.
   */
  readonly trustToken: string;
  readonly expiresAt: Date;
}

const lifeMs = 600_000;

/** Returns the challenge for a login whose first proof was right. */
function newSecondFactorChallenge(
  user: PresentUser,
  login: Pick<
    SecondFactorChallenge,
    'method' | 'amr' | 'first' | 'identityId' | 'link' | 'device' | 'deviceId' | 'jkt'
  >,
  at: Date,
): SecondFactorChallenge {
  return {
    ...login,
    id: randomBytes(16).toString('base64url'),
    userId: user._id,
    version: credentialsVersion(user, login.identityId),
    trustToken: randomBytes(32).toString('base64url'),
    expiresAt: new Date(at.getTime() + lifeMs),
  };
}

/** Names of the content in the token. They are short because apps send the token back. */
interface Sealed {
  readonly i: string;
  readonly u: string;
  readonly v: string;
  readonly m: LoginMethod;
  readonly a: readonly string[];
  readonly f?: readonly [id: string, until: number] | undefined;
  readonly o?: string | undefined;
  readonly l?: NewIdentity | undefined;
  readonly d: string;
  /** True if the device's id was made up. */
  readonly g?: true | undefined;
  readonly n?: string | undefined;
  readonly p?: Platform | undefined;
  readonly k?: string | undefined;
  readonly t: string;
  readonly x: number;
}

const label = 'second-factor';

/** Returns the `challenge_id` that apps get. */
function sealChallenge(sealedTokens: Pick<SealedTokens, 'seal'>, challenge: SecondFactorChallenge): string {
  const { id, userId, version, method, amr, first, identityId, link, device, jkt } = challenge;
  const { deviceId, trustToken, expiresAt } = challenge;
  const sealed: Sealed = {
    ...{ i: id, u: userId, v: version, m: method, a: amr, t: trustToken, x: expiresAt.getTime() },
    ...{
      f: first && [first.id, first.until.getTime()],
      o: identityId,
      l: link,
      d: deviceId,
      g: device.device_id === undefined ? true : undefined,
      n: device.device_name,
      p: device.platform,
      k: jkt,
    },
  };
  return sealedTokens.seal(label, sealed);
}

/** Returns the content of a `challenge_id`; undefined if this service has not made it for this purpose. */
export async function openChallenge(
  sealedTokens: Pick<SealedTokens, 'open'>,
  challengeId: string,
): Promise<SecondFactorChallenge | undefined> {
  // Only this service can make a token that opens, so its content has the right form.
  const sealed = (await sealedTokens.open(label, challengeId)) as Sealed | undefined;
  if (sealed === undefined) return;
  const { i, u, v, m, a, f, o, l, d, g, n, p, k, t, x } = sealed;
  return {
    ...{ id: i, userId: u, version: v, method: m, amr: a, jkt: k, trustToken: t },
    first: f && { id: f[0], until: new Date(f[1]) },
    identityId: o,
    link: l,
    expiresAt: new Date(x),
    deviceId: d,
    device: {
      ...(g === undefined && { device_id: d }),
      ...(n !== undefined && { device_name: n }),
      ...(p !== undefined && { platform: p }),
    },
  };
}
