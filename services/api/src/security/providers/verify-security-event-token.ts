import type { IdentityProvider } from '@auth-account/config';
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import {
  isTrue,
  type SecurityEvent,
  type SecurityEventKind,
  type SecurityEventTokenFault,
  securityEventSeconds,
  securityEventTokenFaults,
  toleranceSeconds,
  type VerifySecurityEventToken,
} from './provider.ts';
import type { TokenFault } from './provider-metrics.ts';
import { faultOf } from './verify-id-token.ts';

const maxEvents = 10;

/**
 * Verifies a provider's security event tokens: Apple's
 * (https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts) or
 * security event tokens (RFC 8417, https://developers.google.com/identity/protocols/risc). The latter never expire.
 * Raises `ERR-DEPENDENCY-UNAVAILABLE` if the provider's keys are not there.
 */
export function createVerifySecurityEventToken(
  { issuers, clientIds, algorithms, notices }: IdentityProvider,
  findKey: JWTVerifyGetKey,
  now: () => Date,
): VerifySecurityEventToken {
  // Google's discovery document and its page of examples differ by a slash.
  const known = issuers.flatMap((issuer) => [issuer, `${issuer}/`]);
  const read = notices === 'apple' ? readAppleEvents : (claims: Claims) => readSecurityEvents(claims, known);
  return async (token) => {
    const rules = {
      algorithms: [...algorithms],
      issuer: known,
      audience: [...clientIds],
      requiredClaims: ['iat', 'jti', 'events'],
      clockTolerance: toleranceSeconds,
      maxTokenAge: securityEventSeconds,
      currentDate: now(),
    };
    try {
      const { payload } = await jwtVerify(token, findKey, rules);
      const id = textOf(payload.jti);
      const events = read(payload);
      if (id === undefined || events === undefined || events.length === 0) return 'malformed';
      // The rules require `iat`, and that it is a number.
      const signedAt = new Date(Number(payload.iat) * 1_000);
      const surplus = events.slice(maxEvents).map(() => ignored('surplus'));
      return { id, signedAt, events: [...events.slice(0, maxEvents), ...surplus.slice(0, 1)] };
    } catch (error) {
      if (error instanceof errors.JOSEError) return securityEventTokenFaultOf(faultOf(error));
      throw error;
    }
  };
}

const isSecurityEventTokenFault = (fault: TokenFault): fault is SecurityEventTokenFault =>
  fault in securityEventTokenFaults;

const securityEventTokenFaultOf = (fault: TokenFault): SecurityEventTokenFault =>
  isSecurityEventTokenFault(fault) ? fault : 'malformed';

type Claims = Readonly<Record<string, unknown>>;

const ignored = (reason: NonNullable<SecurityEvent['ignored']>): SecurityEvent => ({
  kind: 'other',
  sub: undefined,
  ignored: reason,
});

/** Both names of a deletion are in use: the first in Apple's tokens, the second in its documentation. */
const appleKinds: ReadonlyMap<unknown, SecurityEventKind> = new Map([
  ['consent-revoked', 'consent_revoked'],
  ['account-delete', 'account_deleted'],
  ['account-deleted', 'account_deleted'],
  ['email-disabled', 'relay_off'],
  ['email-enabled', 'relay_on'],
]);

/** Reads Apple's events, which are JSON in a text; undefined if they are not JSON. */
function readAppleEvents({ events }: Claims): SecurityEvent[] | undefined {
  const list = parse(events);
  return list?.map((event) => {
    const { type, sub, is_private_email } = Object(event) as Claims;
    const kind = appleKinds.get(type);
    const isRelay = is_private_email === undefined || isTrue(is_private_email);
    return eventOf(kind?.startsWith('relay') && !isRelay ? 'other' : kind, textOf(sub));
  });
}

function parse(claim: unknown): unknown[] | undefined {
  try {
    return [typeof claim === 'string' ? JSON.parse(claim) : claim].flat();
  } catch {
    return;
  }
}

/** Returns an event, or why it is ignored. An event without effect need not name a person. */
function eventOf(kind: SecurityEventKind | undefined, sub: string | undefined): SecurityEvent {
  if (kind === undefined) return ignored('unknown_event');
  return sub === undefined && kind !== 'other' ? ignored('unknown_subject') : { kind, sub };
}

/** Names of events by the end of their URI. Google lists tokens-revoked under oauth, and has older names too. */
const eventForm =
  /^https:\/\/(?:schemas\.openid\.net\/secevent\/(?:risc|oauth|caep|ssf)\/event-type|accounts\.google\.com\/risc\/event)\/([a-z-]+)$/;
const securityKinds: ReadonlyMap<unknown, SecurityEventKind> = new Map([
  ['tokens-revoked', 'consent_revoked'],
  ['all-token-revoked', 'consent_revoked'],
  ['account-purged', 'account_deleted'],
  ['account-disabled', 'account_hijacked'],
  ['account-enabled', 'account_enabled'],
  ['sessions-revoked', 'sessions_revoked'],
  // The name in CAEP 1.0.
  ['session-revoked', 'sessions_revoked'],
  // About the delivery of the events, and not about a person.
  ['verification', 'other'],
  ['stream-updated', 'other'],
]);

/**
 * Reads the events of a security event token; undefined if there are none, or if one that has an effect names nobody.
 * The person stands in the event (RISC before 1.0), or in `sub_id` of the token (RFC 9493, SSF 1.0).
 */
function readSecurityEvents({ events, sub_id }: Claims, issuers: readonly string[]): SecurityEvent[] | undefined {
  if (typeof events !== 'object' || Array.isArray(events)) return;
  const read = Object.entries(Object(events) as Claims).map(([uri, event]) => readSecurityEvent(uri, event));
  return read.every((event) => event !== undefined) ? read : undefined;

  function readSecurityEvent(uri: string, event: unknown): SecurityEvent | undefined {
    const { subject, reason } = Object(event) as Claims;
    const kind = securityKinds.get(eventForm.exec(uri)?.[1]);
    const named = [subject, sub_id].filter((each) => each !== undefined);
    if (named.length === 0 && kind !== undefined && kind !== 'other') return;
    const [sub, ...others] = new Set(named.flatMap((each) => subsOf(each, issuers)));
    // An account that was made in bulk was not taken over. Without a reason it may have been.
    const isBulk = kind === 'account_hijacked' && reason === 'bulk-account';
    return eventOf(isBulk ? 'account_disabled' : kind, others.length === 0 ? sub : undefined);
  }
}

/**
 * Returns the provider's ids of the person whom a subject names (RFC 9493). Of a complex subject (SSF 1.0) the user
 * counts: which of the sessions here a session or device of the provider has opened is not known.
 */
function subsOf(subject: unknown, issuers: readonly string[]): string[] {
  const { format, iss, sub, id, identifiers, user } = Object(subject) as Claims;
  if (format === 'aliases') return [identifiers].flat().flatMap((each) => subsOf(each, issuers));
  if (format === 'opaque') return [textOf(id) ?? []].flat();
  if (user !== undefined) return subsOf(user, issuers);
  return issuers.some((each) => each === iss) ? [textOf(sub) ?? []].flat() : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
