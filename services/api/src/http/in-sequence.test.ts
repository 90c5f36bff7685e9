import { expect, test } from '@jest/globals';
import type { Request, RequestHandler, Response } from 'express';
import { inSequence } from './in-sequence.ts';

/** Returns the calls, and the arguments of `next` at the end. */
function runAll(...handlers: RequestHandler[]): Promise<unknown[]> {
  const { promise, resolve } = Promise.withResolvers<unknown[]>();
  const calls: unknown[] = [];
  const request = { note: (name: string) => calls.push(name) } as unknown as Request;
  inSequence(handlers)(request, {} as Response, (error?: unknown) => resolve([...calls, error]));
  return promise;
}

const noting =
  (name: string, then: RequestHandler = (_req, _res, next) => next()): RequestHandler =>
  (req, res, next) => {
    (req as unknown as { note(name: string): void }).note(name);
    return then(req, res, next);
  };
const failure = new Error('no');

test('handlers run in sequence, and the next one after them all follows', async () => {
  expect(await runAll(noting('a'), noting('b'))).toEqual(['a', 'b', undefined]);
});

test('an empty sequence ends at once', async () => {
  expect(await runAll()).toEqual([undefined]);
});

test.each<[string, RequestHandler]>([
  [
    'throws',
    () => {
      throw failure;
    },
  ],
  ['rejects with', () => Promise.reject(failure)],
  ['gives to next', (_req, _res, next) => next(failure)],
])('the failure that a handler %s skips the handlers after it', async (_, fail) => {
  expect(await runAll(noting('a', fail), noting('b'))).toEqual(['a', failure]);
});

test.each([null, undefined, false, 0, ''])('next with %j is not an error', async (nothing) => {
  const saysNothing: RequestHandler = (_req, _res, next) => next(nothing);
  expect(await runAll(noting('a', saysNothing), noting('b'))).toEqual(['a', 'b', undefined]);
});

test('a handler that rejects with nothing has still failed', async () => {
  const fail: RequestHandler = () => Promise.reject();
  expect(await runAll(noting('a', fail), noting('b'))).toEqual(['a', expect.any(Error)]);
});

test('next with "route" skips the rest and is passed on', async () => {
  const leave: RequestHandler = (_req, _res, next) => next('route');
  expect(await runAll(noting('a', leave), noting('b'))).toEqual(['a', 'route']);
});

test('a handler that calls next after an await is followed by the others too', async () => {
  const late: RequestHandler = async (_req, _res, next) => {
    await Promise.resolve();
    next();
  };
  expect(await runAll(noting('a', late), noting('b'))).toEqual(['a', 'b', undefined]);
});
