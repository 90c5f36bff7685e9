import { ConfigError } from '@auth-account/config';
import { type OperationError, type OperationErrorCode, toOperationError } from '@auth-account/operations';
import { CommanderError } from '@commander-js/extra-typings';
import { CommandError, type ExitCode, exitCodes } from './command-error.ts';

const exitCodeOf = {
  unknown: exitCodes.negative,
  refused: exitCodes.negative,
  changed: exitCodes.negative,
  invalid: exitCodes.usage,
  unavailable: exitCodes.unavailable,
} as const satisfies Record<OperationError['kind'], ExitCode>;

/** Messages that name commands and options of authctl. */
const messageOf: Readonly<Record<OperationErrorCode, (error: OperationError) => string>> = {
  account_changed: ({ message }) => `${message} Look at it (user show) and try again.`,
  force_logout_pending: ({ message, subject }) => `${message} See authctl commands show ${subject}`,
  subscriber_suspended: ({ subject }) => `${subject} is suspended: authctl events resume ${subject}`,
  nothing_selected: () => 'Name events, or select them by --dead-letters, --since or --state.',
  missing_needs_subscriber: () => '--missing needs --subscriber.',
  span_is_empty: () => '--since must be before --until, and before now.',
};

/** Returns the message for the operator about an error: one message, no stack. */
export function toFailure(error: unknown): { readonly message: string; readonly exitCode: ExitCode } {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof CommanderError) {
    return { message: error.message.replace(/^error: /, ''), exitCode: exitCodes.usage };
  }
  if (error instanceof ConfigError) return { message: error.message, exitCode: exitCodes.configuration };
  const known = toOperationError(error);
  if (known !== undefined) {
    const { code, kind, message } = known;
    return { message: code === undefined ? message : messageOf[code](known), exitCode: exitCodeOf[kind] };
  }
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  return { message: `${name}: ${message}`, exitCode: exitCodes.internal };
}
