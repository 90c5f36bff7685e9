import { hash } from 'node:crypto';
import type { IdentityProvider } from '@auth-account/config';
import { Email } from '@auth-account/contracts/http/fields';
import { emailAsMeant } from '@auth-account/stores';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { nameAsMeant } from '../as-meant.ts';
import { isTrue, toleranceSeconds, type VerifiedIdentity, type VerifyIdToken } from './provider.ts';
import type { ProviderKeys } from './provider-keys.ts';
import type { TokenFault } from './provider-metrics.ts';

/** Longest time since the token was issued. Its nonce is ten minutes old at most. */
const maxAge = '1 h';
/** OpenID Connect Core, section 2: at most 255 ASCII characters. */
const subPattern = /^\p{ASCII}{1,255}$/u;
const {
  maxLength: maxInEmail,
  pattern,
  allOf,
} = Object(Email) as {
  readonly maxLength: number;
  readonly pattern: string;
  readonly allOf: readonly { readonly pattern: string }[];
};
const emailForms = [pattern, ...allOf.map((each) => each.pattern)].map((each) => new RegExp(each));
/** Types of other tokens that a provider signs with the same keys, such as `at+jwt` (RFC 8725, section 3.11). */
const otherType = /\+jwt$/i;

export interface VerifyDeps {
  readonly now: () => Date;
  /** Called for each token with what it came to. */
  readonly onToken: (result: 'accepted' | TokenFault) => void;
}

/**
 * Verifies a provider's ID tokens (OpenID Connect Core, section 3.1.3.7). Raises `ERR-DEPENDENCY-UNAVAILABLE` if the
 * provider's keys are not there.
 */
export function createVerify(
  provider: IdentityProvider,
  keys: ProviderKeys,
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
      maxTokenAge: maxAge,
      currentDate: now(),
    };
    const verify = () => jwtVerify(token, keys, rules);
    try {
      const { payload, protectedHeader } = await verify().catch(async (error: unknown) => {
        if (error instanceof errors.JWSSignatureVerificationFailed && (await keys.renew())) return verify();
        throw error;
      });
      if (otherType.test(protectedHeader.typ ?? '')) return 'type';
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

/**
 * Returns true if the token was issued for one of the apps, also if it names several. It may name others beside them if
 * `azp` is one of the apps, as Zitadel names its project.
 */
function isFor({ aud, azp }: JWTPayload, clientIds: readonly string[]): boolean {
  if (azp !== undefined) return clientIds.some((each) => each === azp);
  return [aud ?? []].flat().every((each) => clientIds.includes(each));
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
  const address = typeof email === 'string' ? addressIn(email) : undefined;
  const domain = address === undefined ? '' : domainOf(address);
  const isHosted = provider.hostsDomains && typeof hd === 'string' && domainOf(emailAsMeant(`@${hd}`)) === domain;
  return {
    provider: provider.name,
    sub,
    clientId,
    email: address,
    isOwnEmail: isTrue(email_verified) && (isHosted || provider.emailDomains.includes(domain)),
    name: typeof name === 'string' ? nameAsMeant(name) : undefined,
  };
}

/** Returns the email address in the form that an account can have, as if a person had typed it. */
function addressIn(text: string): string | undefined {
  const email = emailAsMeant(text);
  return email.length <= maxInEmail && emailForms.every((form) => form.test(email)) ? email : undefined;
}

function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}
