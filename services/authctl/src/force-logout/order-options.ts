import { requestIdPattern } from '@auth-account/contracts';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { parseSpan } from '../cli/parse-moment.ts';

function parseReason(text: string): string {
  if (text.length < 1 || text.length > 256) throw new InvalidArgumentError('It must have 1 to 256 characters.');
  return text;
}

function parseRequestId(text: string): string {
  if (!new RegExp(requestIdPattern).test(text)) throw new InvalidArgumentError('It must be as X-Request-ID.');
  return text;
}

/** What every order of a forced logout takes. */
export const reasonOption = () =>
  new Option('--reason <text>', 'why, for the logs: no personal data').argParser(parseReason).makeOptionMandatory();
export const requestIdOption = () =>
  new Option('--request-id <id>', 'by which trace finds it; made up where none is given').argParser(parseRequestId);
export const timeoutOption = () =>
  new Option('--timeout <span>', 'how long to wait for the result').argParser(parseSpan).default(30_000, '30s');
