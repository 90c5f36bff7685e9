import { createHash, timingSafeEqual } from 'node:crypto';
import { findReasonFault } from '@auth-account/operations';
import express, { type Request, type Response } from 'express';
import { reasonHeader, tokenHeader } from '../contract/requests.ts';
import { ConsoleError } from '../runtime/console-error.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Throws `wrong_origin` unless the request comes from the console's own page (OWASP, Cross-Site Request Forgery
 * Prevention): by `Sec-Fetch-Site`, and if it is no GET by `Origin` and by the session's token.
 */
export function assertOwnPage({ method, headers }: Request, origin: string, token: string): void {
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || (site === 'none' && method === 'GET');
  const given = headers[tokenHeader];
  const isOwn =
    method === 'GET' ||
    (headers.origin === origin && typeof given === 'string' && timingSafeEqual(digest(given), digest(token)));
  if (!isOwnSite || !isOwn)
    throw new ConsoleError('wrong_origin', "The request does not come from the console's page.");
}

const parseJson = express.json({ limit: '16kb', strict: true });

/** Reads the body as JSON; undefined if there is none. Rejects with an error whose status is 4xx. */
export async function readBody(req: Request, res: Response): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  parseJson(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error as Error)));
  await promise;
  return req.body as unknown;
}

/** Returns the members of the query. Throws `invalid` if one is there twice. */
export function readQuery({ query }: Request): Readonly<Record<string, string>> {
  const members = Object.entries(query);
  if (members.every(([, value]) => typeof value === 'string')) return query as Record<string, string>;
  throw new ConsoleError('invalid', 'A member of the query is there twice.');
}

/** Returns the reason. Throws `reason_missing` if there is none that may go into a log. */
export function readReason({ headers }: Request): string {
  const given = headers[reasonHeader];
  if (typeof given !== 'string' || given === '') throw new ConsoleError('reason_missing', 'A reason is needed.');
  const reason = decoded(given).trim();
  const fault = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(reason) ? 'It must be one line.' : findReasonFault(reason);
  if (fault !== undefined) throw new ConsoleError('reason_missing', `The reason: ${fault}`);
  return reason;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConsoleError('reason_missing', 'The reason: It must be percent-encoded UTF-8.');
  }
}
