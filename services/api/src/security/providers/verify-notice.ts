import type { IdentityProvider } from '@auth-account/config';
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import {
  isTrue,
  type NoticeEvent,
  type NoticeKind,
  noticeSeconds,
  toleranceSeconds,
  type VerifyNotice,
} from './provider.ts';

const mostEvents = 10;

/**
 * Creates the check of a provider's notices: Apple's
 * (https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts) or
 * security event tokens (RFC 8417, https://developers.google.com/identity/protocols/risc). The latter never expire.
 * Raises `ERR-DEPENDENCY-UNAVAILABLE` if the provider's keys are not there.
 */
export function createVerifyNotice(
  { issuers, clientIds, algorithms, notices }: IdentityProvider,
  findKey: JWTVerifyGetKey,
  now: () => Date,
): VerifyNotice {
  // Google's discovery document and its page of examples differ by a slash.
  const known = issuers.flatMap((issuer) => [issuer, `${issuer}/`]);
  const read = notices === 'apple' ? readAppleEvents : (claim: unknown) => readSecurityEvents(claim, known);
  return async (token) => {
    const rules = {
      algorithms: [...algorithms],
      issuer: known,
      audience: [...clientIds],
      requiredClaims: ['iat', 'jti', 'events'],
      clockTolerance: toleranceSeconds,
      maxTokenAge: noticeSeconds,
      currentDate: now(),
    };
    try {
      const { payload } = await jwtVerify(token, findKey, rules);
      const id = textOf(payload.jti);
      if (id === undefined) return;
      // The rules require `iat`, and that it is a number.
      const signedAt = new Date(Number(payload.iat) * 1_000);
      return { id, signedAt, events: read(payload.events).slice(0, mostEvents) };
    } catch (error) {
      if (error instanceof errors.JOSEError) return;
      throw error;
    }
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** Both names of a deletion are in use: the first in Apple's notices, the second in its documentation. */
const appleKinds: ReadonlyMap<unknown, NoticeKind> = new Map([
  ['consent-revoked', 'consent_revoked'],
  ['account-delete', 'account_deleted'],
  ['account-deleted', 'account_deleted'],
  ['email-disabled', 'relay_off'],
  ['email-enabled', 'relay_on'],
]);

/** Reads Apple's events, which are JSON in a text. */
function readAppleEvents(claim: unknown): NoticeEvent[] {
  return [parse(claim)].flat().map((event) => {
    const { type, sub, is_private_email } = Object(event) as Claims;
    const kind = appleKinds.get(type) ?? 'other';
    const isRelay = is_private_email === undefined || isTrue(is_private_email);
    return { kind: kind.startsWith('relay') && !isRelay ? 'other' : kind, sub: textOf(sub) };
  });
}

function parse(claim: unknown): unknown {
  if (typeof claim !== 'string') return claim;
  try {
    return JSON.parse(claim);
  } catch {
    return [];
  }
}

/** Names of events by the end of their URI. Google lists tokens-revoked under oauth, and has older names too. */
const eventForm =
  /^https:\/\/(?:schemas\.openid\.net\/secevent\/(?:risc|oauth)\/event-type|accounts\.google\.com\/risc\/event)\/([a-z-]+)$/;
const securityKinds: ReadonlyMap<unknown, NoticeKind> = new Map([
  ['tokens-revoked', 'consent_revoked'],
  ['all-token-revoked', 'consent_revoked'],
  ['account-purged', 'account_deleted'],
  ['account-disabled', 'account_hijacked'],
  ['account-enabled', 'account_enabled'],
  ['sessions-revoked', 'sessions_revoked'],
]);

function readSecurityEvents(claim: unknown, issuers: readonly string[]): NoticeEvent[] {
  return Object.entries(Object(claim) as Claims).map(([uri, event]) => {
    const { subject, reason } = Object(event) as Claims;
    const { iss, sub } = Object(subject) as Claims;
    const kind = securityKinds.get(eventForm.exec(uri)?.[1]) ?? 'other';
    // An account that was made in bulk was not taken over. Without a reason it may have been.
    const isBulk = kind === 'account_hijacked' && reason === 'bulk-account';
    return {
      kind: isBulk ? 'account_disabled' : kind,
      sub: issuers.some((each) => each === iss) ? textOf(sub) : undefined,
    };
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
