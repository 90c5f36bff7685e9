import { appendFileSync, closeSync, openSync } from 'node:fs';
import { userInfo } from 'node:os';
import { findNameFault } from '@auth-account/operations';
import { createAuditLog, createLogger, type WriteAudit } from '@auth-account/telemetry';
import { Option } from '@commander-js/extra-typings';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import { parseUnless } from '../../cli/parse-arguments.ts';
import type { Shell } from '../../cli/shell.ts';
import { auditConfig } from '../../config.ts';

/** Option of every command that changes an account. */
export const asOption = () =>
  new Option('--as <name>', "operator's name for the audit log; default: the user of the operating system").argParser(
    parseUnless(findNameFault),
  );

/** Returns the operator's name. Throws a `CommandError` if no name was given and the operating system knows none. */
export function operatorOf(given: string | undefined): string {
  if (given !== undefined) return given;
  try {
    return userInfo().username;
  } catch (error) {
    const message = 'The operating system does not know who you are: give --as';
    throw new CommandError(message, { exitCode: exitCodes.usage, cause: error });
  }
}

/**
 * Opens the audit log of a command. It writes lines in the services' format to stderr, and appends them to
 * `AUTHCTL_AUDIT_FILE` if that is set. Throws a `CommandError` if the file cannot be written.
 */
export function openAudit(shell: Shell): WriteAudit {
  const { AUTHCTL_AUDIT_FILE: path } = shell.config(auditConfig);
  if (path !== undefined) assertWritable(path);
  const destination = {
    write(line: string) {
      shell.terminal.stderr.write(line);
      if (path !== undefined) appendFileSync(path, line);
    },
  };
  return createAuditLog(createLogger({ service: 'authctl', level: 'info', destination }));
}

/** Checked before the change, because a change that cannot be recorded must not be made. */
function assertWritable(path: string): void {
  try {
    closeSync(openSync(path, 'a'));
  } catch (error) {
    throw new CommandError(`The audit log ${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
