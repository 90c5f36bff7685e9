import { randomUUID } from 'node:crypto';
import { requestIdPattern } from '@auth-account/contracts';
import { findReasonFault } from '@auth-account/operations';
import type { OrderOptions } from '@auth-account/operations/commands';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { parseSpan, parseUnless } from '../../cli/parse-arguments.ts';
import type { Outcome } from '../../cli/shell.ts';

function parseRequestId(text: string): string {
  if (!new RegExp(requestIdPattern).test(text)) throw new InvalidArgumentError('It must be as X-Request-ID.');
  return text;
}

/** Option of every command that orders a forced logout. */
export const reasonOption = () =>
  new Option('--reason <text>', 'reason for the logs, without personal data')
    .argParser(parseUnless(findReasonFault))
    .makeOptionMandatory();
export const requestIdOption = () =>
  new Option('--request-id <id>', 'request id of this order, for authctl trace; default: a generated id').argParser(
    parseRequestId,
  );
export const timeoutOption = () =>
  new Option('--timeout <span>', 'how long to wait for the result').argParser(parseSpan).default(30_000, '30s');

interface GivenOptions extends Omit<OrderOptions, 'requestId'> {
  readonly requestId?: string | undefined;
}

/** Orders a forced logout with the options of the command line. */
export async function order(
  { requestId = `authctl-${randomUUID()}`, ...others }: GivenOptions,
  run: (options: OrderOptions) => Promise<{ readonly sessions: number; readonly request_id: string }>,
): Promise<Outcome> {
  const json = await run({ ...others, requestId });
  return { json, text: `Sessions ended: ${json.sessions}. Request id: ${json.request_id}` };
}
