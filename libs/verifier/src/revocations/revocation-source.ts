import type { Denied, DeniedPage as PageOf } from '@auth-account/redis/denial-pages';
import type { FindKey } from '../access-token/index.ts';

export type { Denied };

/** Answer of a source. Only the source knows what its cursor means. */
export type DeniedPage = PageOf<unknown>;

/** A source from which a verifier learns which sessions are denied. */
export interface RevocationSource {
  /**
   * Returns the denials since the cursor, or all denials without a cursor. An answer may repeat denials but never omits
   * one: if the server does not recognise the cursor, the answer contains all denials. Rejects within a few seconds if
   * the denials can't be read. The next call then has the same cursor.
   */
  read(cursor: unknown): Promise<DeniedPage>;
  /** Closes the source's connection. */
  close(): void;
}

/** Parts of a verifier that a source may use. */
export interface SourceContext {
  /** `iss` of the statements that the issuer signs. */
  readonly issuer: string;
  /** URL of the issuer, without a slash at its end. */
  readonly address: string;
  readonly fetch: typeof fetch;
  /** Returns the function that finds the issuer's keys. Rejects if nothing is known about the issuer. */
  issuerKeys(): Promise<FindKey>;
}

/** Opens a source for a verifier. */
export type OpenRevocationSource = (context: SourceContext) => RevocationSource;
