import { randomUUID } from 'node:crypto';
import { type ForceLogoutCommand, requestIdPattern } from '@auth-account/contracts';
import { awaitForceLogout, openForceLogoutQueue, requestForceLogout } from '@auth-account/messaging';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import { parseSpan } from '../../cli/parse-arguments.ts';
import type { Outcome } from '../../cli/shell.ts';
import type { RedisStore } from '../../compose.ts';

function parseReason(text: string): string {
  if (text.length < 1 || text.length > 256) throw new InvalidArgumentError('It must have 1 to 256 characters.');
  // An email address is usually a mistake, because every log line names the account anyway.
  if (/\S@\S/.test(text)) throw new InvalidArgumentError('It goes into logs: it must have no e-mail address.');
  return text;
}

function parseRequestId(text: string): string {
  if (!new RegExp(requestIdPattern).test(text)) throw new InvalidArgumentError('It must be as X-Request-ID.');
  return text;
}

/** Option of every command that orders a forced logout. */
export const reasonOption = () =>
  new Option('--reason <text>', 'reason for the logs, without personal data')
    .argParser(parseReason)
    .makeOptionMandatory();
export const requestIdOption = () =>
  new Option('--request-id <id>', 'request id of this order, for authctl trace; default: a generated id').argParser(
    parseRequestId,
  );
export const timeoutOption = () =>
  new Option('--timeout <span>', 'how long to wait for the result').argParser(parseSpan).default(30_000, '30s');

export interface OrderOptions {
  readonly reason: string;
  readonly requestId?: string | undefined;
  /** Milliseconds to wait for the result. */
  readonly timeout: number;
}

type Target = { readonly user_id: string } | { readonly session_id: string };

/**
 * Orders a forced logout and waits for its result. The worker carries it out like any other forced logout, with deny
 * list, closed streams and audit log. Throws a `CommandError` if the logout failed, or if there was no result in time.
 */
export async function orderForceLogout(
  { redis, keys }: RedisStore,
  target: Target,
  { reason, requestId = `authctl-${randomUUID()}`, timeout }: OrderOptions,
): Promise<Outcome> {
  const queue = openForceLogoutQueue(redis, keys);
  // Errors are ignored here, because the calls themselves report them.
  queue.on('error', () => undefined);
  try {
    const command = { ...target, reason, request_id: requestId } satisfies ForceLogoutCommand;
    const id = await requestForceLogout(queue, command);
    const status = await awaitForceLogout(queue, id, timeout);
    if (status?.state === 'failed') throw new CommandError(`Command ${id} failed: ${status.error}`);
    if (status?.result === undefined) {
      const message = `Command ${id} was ordered, but not carried out within ${timeout / 1_000} s. Does a worker run? See authctl commands show ${id}`;
      throw new CommandError(message, { exitCode: exitCodes.unavailable });
    }
    const { sessions } = status.result;
    const json = { command_id: id, request_id: requestId, sessions };
    return { json, text: `Sessions ended: ${sessions}. Request id: ${requestId}` };
  } finally {
    await queue.close();
  }
}
