import type { Locale } from '@auth-account/contracts/events';
import type { UserDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { DeviceProof, ProofFault } from '../security/verify-device-proof.ts';

/** The part of a request that use cases see. They never see the HTTP request. */
export interface RequestOrigin {
  readonly requestId: string;
  /** Time at which the request was received completely, in milliseconds on the clock of `performance.now()`. */
  readonly receivedAt?: number;
  /** Returns true if the client's connection has ended. The client may have repeated the request since then. */
  readonly isAbandoned?: () => boolean;
  /** Called when a majority has acknowledged a change that the request has made. */
  readonly onCommitted?: () => void;
  /** Language that the client asks for; English by default. */
  readonly locale?: Locale;
  /** `Idempotency-Key`, if the route takes one and the client sent it. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Proof of the device's key (`DPoP`), if the route takes one and the client sent it. Only a refresh gets a proof that
   * is wrong, because it needs none unless its session is bound.
   */
  readonly proof?: DeviceProof | ProofFault;
  /** Secret of the installation (`X-Device-Secret`), if the route takes one and the client sent it. */
  readonly deviceSecret?: string;
  /** The caller of a route with authorization. A change is made only while its session lives: see `createCommit`. */
  readonly caller?: Pick<VerifiedAccessToken, 'sid' | 'user_id'>;
  /** IP address of the client, before the trusted proxies; undefined if its connection has ended. */
  readonly network: string | undefined;
  /** W3C trace context of the active span; without tracing, the request's own context if it is well-formed. */
  readonly traceparent?: string | undefined;
}

/** Returns the thumbprint of the device's key that the request has proven. */
export function provenKey({ proof }: RequestOrigin): string | undefined {
  return typeof proof === 'object' ? proof.jkt : undefined;
}

/**
 * Names what the device of a request holds, by which an account knows it again: its secret, or else a key that it has
 * proven; undefined if it has shown nothing. A `device_id` shows nothing, because it stands in every access token.
 */
export function heldBy(origin: RequestOrigin, jkt = provenKey(origin)): string | undefined {
  // A request for a code has no proof, so the secret comes first.
  if (origin.deviceSecret !== undefined) return `secret:${origin.deviceSecret}`;
  return jkt && `key:${jkt}`;
}

/** Returns the language of a mail: the user's if known, otherwise the language that the client asks for. */
export function mailLocale(user: Pick<UserDocument, 'locale'> | undefined, { locale }: RequestOrigin): Locale {
  return user?.locale ?? locale ?? 'en';
}
