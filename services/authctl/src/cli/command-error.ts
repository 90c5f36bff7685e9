import { type ExitCode, exitCodes } from './exit-codes.ts';

/** A command ended without a result; the message is for the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, options: { readonly exitCode?: ExitCode; readonly cause?: unknown } = {}) {
    const { exitCode = exitCodes.negative, ...others } = options;
    super(message, others);
    this.exitCode = exitCode;
  }
}
