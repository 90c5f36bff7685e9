import type { Readable, Writable } from 'node:stream';

/** Environment of a command line; tests pass their own. */
export interface Terminal {
  readonly stdin: Readable;
  /** Output for results, and nothing else. */
  readonly stdout: Writable;
  /** Output for errors, questions and progress. */
  readonly stderr: Writable;
  /** True if a person can answer a question. */
  readonly isInteractive: boolean;
  /** True if a progress bar is useful. */
  readonly hasProgress: boolean;
  readonly now: () => Date;
  /** Variables to use instead of the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Directory in which to look for a local stack if the environment names no servers. If this is absent, no stack is
   * looked for.
   */
  readonly localStack?: URL;
}
