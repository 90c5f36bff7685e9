import type { ExitCode } from './exit-codes.ts';

/** What a command found or did. */
export interface Outcome {
  /** What `--json` prints. */
  readonly json: unknown;
  /** What people read; ends without a line break. */
  readonly text: string;
  readonly exitCode?: ExitCode;
}
