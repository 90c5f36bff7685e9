import type { Readable, Writable } from 'node:stream';

/** The surroundings of a command line; a test gives its own. */
export interface Terminal {
  readonly stdin: Readable;
  /** Results, and nothing else. */
  readonly stdout: Writable;
  /** Errors, questions and progress. */
  readonly stderr: Writable;
  /** Whether somebody can answer a question. */
  readonly isInteractive: boolean;
  /** Whether a progress bar is of use. */
  readonly hasProgress: boolean;
  readonly now: () => Date;
  /** In place of the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where to look for a local stack if the environment names no servers; not looked for if it is not said. */
  readonly localStack?: URL;
}
