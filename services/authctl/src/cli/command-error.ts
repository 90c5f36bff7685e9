/** Exit codes of authctl (the larger codes are those of BSD's sysexits). */
export const exitCodes = {
  ok: 0,
  /**
   * Not found, or a negative result: a check that failed, lines that were not imported, a confirmation that was
   * refused.
   */
  negative: 1,
  usage: 2,
  /** MongoDB or Redis could not be reached, or did not answer in time. */
  unavailable: 69,
  /** An internal error of authctl. */
  internal: 70,
  /** A variable of the environment is missing or wrong. */
  configuration: 78,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The error of a command that ended without a result. Its message is for the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, options: { readonly exitCode?: ExitCode; readonly cause?: unknown } = {}) {
    const { exitCode = exitCodes.negative, ...others } = options;
    super(message, others);
    this.exitCode = exitCode;
  }
}
