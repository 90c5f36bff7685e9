/** A session whose tokens are refused. */
export interface Denied {
  readonly sessionId: string;
  /** The smallest `ver` that is still good; Infinity if the session is revoked. */
  readonly below: number;
}

/** Answer of a source. */
export interface DeniedPage {
  readonly denied: readonly Denied[];
  /** To be passed to the next call. Only the source knows its content. */
  readonly cursor: unknown;
  /** True if there is more to read at once. */
  readonly hasMore: boolean;
}

/** A place from which a verifier learns which sessions are denied. */
export interface RevocationSource {
  /**
   * Returns what was denied since the cursor; without one, everything that is denied. An answer may repeat what another
   * one had, and leaves nothing out. Rejects if it cannot know that, within a few seconds.
   */
  read(cursor: unknown): Promise<DeniedPage>;
  /** Releases its connection. */
  close(): void;
}
