import { randomUUID } from 'node:crypto';
import { requestIdPattern } from '@auth-account/contracts';
import { findReasonFault, type Mongo, type Plan, type RedisStore } from '@auth-account/operations';
import { type ForcedLogout, type OrderOptions, withQueue } from '@auth-account/operations/commands';
import type { LogoutContext } from '@auth-account/operations/sessions';
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

/** Orders the planned forced logout with the options of the command line. Nobody is asked. */
export async function order(
  stores: Mongo & RedisStore,
  { requestId = `authctl-${randomUUID()}`, ...others }: GivenOptions,
  planIn: (context: LogoutContext, options: OrderOptions) => Promise<Plan<ForcedLogout>>,
): Promise<Outcome> {
  const { collections } = stores;
  const useQueue: LogoutContext['useQueue'] = (work) => withQueue(stores, work);
  const json = await (await planIn({ collections, useQueue }, { ...others, requestId })).run();
  return { json, text: `Sessions ended: ${json.sessions}. Request id: ${json.request_id}` };
}
