import type { Denied, DeniedPage as PageOf } from '@auth-account/redis/denial-pages';
import type { AccessTokenAlgorithm, FindKey } from '../access-token/index.ts';

export type { Denied };

/** Answer of a source; only the source knows the content of its cursor. */
export type DeniedPage = PageOf<unknown>;

/** A place from which a verifier learns which sessions are denied. */
export interface RevocationSource {
  /**
   * Returns what was denied since the cursor; without one, everything that is denied. An answer may repeat what another
   * one had, and leaves nothing out: a cursor that does not fit the server that answers reads everything. Rejects if it
   * cannot know that, within a few seconds; the next call has the same cursor.
   */
  read(cursor: unknown): Promise<DeniedPage>;
  /** Releases its connection. */
  close(): void;
}

/** Parts of a verifier that a source may use. */
export interface SourceContext {
  /** `iss` of what the issuer signs. */
  readonly issuer: string;
  /** Address of the issuer, without a slash at its end. */
  readonly address: string;
  readonly fetch: typeof fetch;
  /** Returns how the issuer signs, and finds its keys. Rejects if nothing is known of it. */
  signatures(): Promise<{ readonly algorithm: AccessTokenAlgorithm; readonly findKey: FindKey }>;
}

/** Opens a source for a verifier. */
export type OpenRevocationSource = (context: SourceContext) => RevocationSource;
