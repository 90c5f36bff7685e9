import { ConfigError } from '@auth-account/config';
import { DenyListUnavailable } from '@auth-account/messaging/deny-list';
import { isBrokenSocket, isStoreUnavailable } from '@auth-account/stores';
import { CommanderError } from '@commander-js/extra-typings';

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

/** Returns the message for the operator about an error: one message, no stack. */
export function toFailure(error: unknown): { readonly message: string; readonly exitCode: ExitCode } {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof CommanderError) {
    return { message: error.message.replace(/^error: /, ''), exitCode: exitCodes.usage };
  }
  if (error instanceof ConfigError) return { message: error.message, exitCode: exitCodes.configuration };
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  if (isStoreUnavailable(error)) return { message: `MongoDB: ${message}`, exitCode: exitCodes.unavailable };
  if (error instanceof DenyListUnavailable) return { message: `Redis: ${message}`, exitCode: exitCodes.unavailable };
  // The error does not show whether it comes from MongoDB or from Redis.
  if (isBrokenSocket(error)) return { message: `a connection broke: ${message}`, exitCode: exitCodes.unavailable };
  return { message: `${name}: ${message}`, exitCode: exitCodes.internal };
}
