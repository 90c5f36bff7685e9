import { ConfigError } from '@auth-account/config';
import { DenyListUnavailable } from '@auth-account/messaging/deny-list';
import { isBrokenSocket, isStoreUnavailable } from '@auth-account/stores';
import { CommanderError } from '@commander-js/extra-typings';
import { CommandError, type ExitCode, exitCodes } from './command-error.ts';

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
