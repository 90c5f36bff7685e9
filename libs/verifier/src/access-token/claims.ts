import type { StockAccountType } from '@auth-account/errors';
import type { KeySet } from './key-set.ts';
import type { KeySource } from './key-source.ts';

/** Claims of an access token about its bearer (docs/specification/login-and-tokens.md, "Access tokens"). */
export interface AccessTokenClaims {
  readonly user_id: string;
  readonly home_group_id: string;
  readonly account_type: StockAccountType;
  /** Session id. */
  readonly sid: string;
  /** Version of the session's claims. The deny list holds the smallest version that is still valid. */
  readonly ver: number;
  readonly device_id: string;
  /** Time of the user's latest proof, in seconds since the epoch. Missing in tokens of earlier releases. */
  readonly auth_time?: number;
  /** Methods of that proof (RFC 8176). */
  readonly amr?: readonly string[];
  /** `1` if the user proved one factor, `2` if two. */
  readonly acr?: string;
}

export interface AccessTokenSettings {
  /** The keys, each with its own algorithm. The first one signs, and all verify. A change of the source applies from the next token on. */
  readonly keys: KeySet | KeySource;
  readonly issuer: string;
  readonly audience: string;
  /** Life of a token in seconds. The signer sets it, and the verifier refuses a longer life. */
  readonly ttlSeconds: number;
  /** Returns milliseconds since the epoch. If absent, the system's clock is used. */
  readonly now?: () => number;
}

/** RFC 9068 section 2.1. */
export const accessTokenType = 'at+jwt';
