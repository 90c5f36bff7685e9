import type { TokenFault } from './provider-metrics.ts';

/** Kinds of security events about a person. Nothing follows from `other`. */
export const securityEventSenders = [
  'consent_revoked',
  'account_deleted',
  'account_disabled',
  'account_hijacked',
  'account_enabled',
  'sessions_revoked',
  'relay_off',
  'relay_on',
  'other',
] as const;
export type SecurityEventKind = (typeof securityEventSenders)[number];

/** A security event token whose signature was checked. */
export interface SecurityEventToken {
  /** The provider's id of the token. The same token may come again. */
  readonly id: string;
  /** Time at which the provider signed it, in whole seconds. */
  readonly signedAt: Date;
  readonly events: readonly SecurityEvent[];
}

export interface SecurityEvent {
  readonly kind: SecurityEventKind;
  /** The provider's id of the person; undefined if the event names none. */
  readonly sub: string | undefined;
  /** Reason for which nothing follows from an event that was not understood. */
  readonly ignored?: 'unknown_event' | 'unknown_subject' | 'surplus';
}

/**
 * Faults of security event tokens, with their explanations in docs/audit.md. From `issuer` on, the provider itself has
 * signed it.
 */
export const securityEventTokenFaults = {
  malformed: 'not readable, or without what a security event token must have',
  algorithm: '',
  key: 'unknown',
  signature: '',
  issuer: '',
  audience: 'of another app',
  time: 'signed more than 7 days ago, or over',
} as const satisfies Partial<Record<TokenFault, string>>;
export type SecurityEventTokenFault = keyof typeof securityEventTokenFaults;

/** Returns the security event token, or the fault for which the token does not count. */
export type VerifySecurityEventToken = (token: string) => Promise<SecurityEventToken | SecurityEventTokenFault>;

/** Cause of the refusal of a security event token. */
export class SecurityEventRefusal extends Error {
  override readonly name = 'SecurityEventRefusal';
  readonly fault: SecurityEventTokenFault;

  constructor(fault: SecurityEventTokenFault) {
    super(`the security event token was refused: ${fault}`);
    this.fault = fault;
  }
}

/** Maximum time since a security event token was signed, in seconds. Until then a provider may send it again. */
export const securityEventSeconds = 7 * 86_400;
/** Difference between the provider's clock and ours, in seconds, that is put up with. */
export const toleranceSeconds = 60;

/** A person as their provider knows them. */
export interface VerifiedIdentity {
  readonly provider: string;
  /** The provider's id of the person, which never changes. */
  readonly sub: string;
  /** The app for which the token was issued. */
  readonly clientId: string;
  /** Email address that the provider names; undefined if it names none that an account could have. */
  readonly email: string | undefined;
  /** True if the provider has given out the email address itself and says that it is this person's. */
  readonly isOwnEmail: boolean;
  readonly name: string | undefined;
}

/** Returns the person to whom the provider has issued the token; undefined if the token does not count. */
export type VerifyIdToken = (token: string, nonce: string) => Promise<VerifiedIdentity | undefined>;

/** Returns true if a claim is true. Apple sends booleans as strings too. */
export function isTrue(claim: unknown): boolean {
  return claim === true || claim === 'true';
}
