import { hash } from 'node:crypto';
import type { IdentityProvider } from '@auth-account/config';
import { Email } from '@auth-account/contracts/http/fields';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isTrue, toleranceSeconds, type VerifiedIdentity, type VerifyIdToken } from './provider.ts';
import type { TokenFault } from './provider-metrics.ts';

/** Longest time since the token was issued. Its nonce is ten minutes old at most. */
const longestAge = '1 h';
const subPattern = /^[\x21-\x7e]{1,255}$/;
const emailPattern = new RegExp(String(Object(Email).pattern));

export interface VerifyDeps {
  readonly now: () => Date;
  /** Called for each token with what it came to. */
  readonly onToken: (result: 'accepted' | TokenFault) => void;
}

/**
 * Creates the check of a provider's ID tokens (OpenID Connect Core, section 3.1.3.7). Raises
 * `ERR-DEPENDENCY-UNAVAILABLE` if the provider's keys are not there.
 */
export function createVerify(
  provider: IdentityProvider,
  findKey: JWTVerifyGetKey,
  { now, onToken }: VerifyDeps,
): VerifyIdToken {
  const { issuers, clientIds, algorithms } = provider;

  async function check(token: string, nonce: string): Promise<VerifiedIdentity | TokenFault> {
    const rules = {
      algorithms: [...algorithms],
      issuer: [...issuers],
      audience: [...clientIds],
      requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
      clockTolerance: toleranceSeconds,
      maxTokenAge: longestAge,
      currentDate: now(),
    };
    try {
      const { payload } = await jwtVerify(token, findKey, rules);
      if (!isFor(payload, clientIds)) return 'audience';
      return hasNonce(payload, nonce) ? (identityOf(payload, provider) ?? 'subject') : 'nonce';
    } catch (error) {
      if (error instanceof errors.JOSEError) return faultOf(error);
      throw error;
    }
  }

  return async (token, nonce) => {
    const result = await check(token, nonce);
    const isFault = typeof result === 'string';
    onToken(isFault ? result : 'accepted');
    return isFault ? undefined : result;
  };
}

const faultOfClaim: Readonly<Record<string, TokenFault>> = {
  iss: 'issuer',
  aud: 'audience',
  exp: 'time',
  iat: 'time',
  nbf: 'time',
  nonce: 'nonce',
  sub: 'subject',
};

/** Returns the fault for which the library has refused a token. */
export function faultOf(error: InstanceType<typeof errors.JOSEError>): TokenFault {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    return faultOfClaim[error.claim] ?? 'malformed';
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  const isKeyMissing = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
  return isKeyMissing ? 'key' : 'malformed';
}

/** Returns true if the token was issued for one of the apps, also if it names several. */
function isFor({ aud, azp }: JWTPayload, clientIds: readonly string[]): boolean {
  const others = [aud ?? []].flat().filter((each) => !clientIds.includes(each));
  return others.length === 0 && (azp === undefined || clientIds.some((each) => each === azp));
}

/** Returns true if the token has the nonce, in one of the forms in which apps pass it on. */
function hasNonce({ nonce }: JWTPayload, wanted: string): boolean {
  const digests = (['hex', 'base64url'] as const).map((form) => hash('sha256', wanted, form));
  return [wanted, ...digests].some((each) => each === nonce);
}

function identityOf(payload: JWTPayload, provider: IdentityProvider): VerifiedIdentity | undefined {
  const { sub, aud, azp, email, email_verified, hd, name } = payload;
  const [clientId = ''] = [azp ?? aud ?? []].flat() as string[];
  if (typeof sub !== 'string' || !subPattern.test(sub)) return;
  const address = typeof email === 'string' && email.length <= 254 && emailPattern.test(email) ? email : undefined;
  const domain = address?.slice(address.lastIndexOf('@') + 1).toLowerCase() ?? '';
  const isHosted = provider.hostsDomains && typeof hd === 'string' && hd.toLowerCase() === domain;
  return {
    provider: provider.name,
    sub,
    clientId,
    email: address,
    isOwnAddress: isTrue(email_verified) && (isHosted || provider.emailDomains.includes(domain)),
    name: typeof name === 'string' ? name : undefined,
  };
}
