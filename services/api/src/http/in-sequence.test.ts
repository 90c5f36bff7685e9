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

test('handlers follow each other, and then comes what follows them all', async () => {
  expect(await runAll(noting('a'), noting('b'))).toEqual(['a', 'b', undefined]);
});

test('nothing to do is done at once', async () => {
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
])('what a handler %s goes past those after it', async (_, fail) => {
  expect(await runAll(noting('a', fail), noting('b'))).toEqual(['a', failure]);
});

test.each([null, undefined, false, 0, ''])('%j given to next is no error', async (nothing) => {
  const saysNothing: RequestHandler = (_req, _res, next) => next(nothing);
  expect(await runAll(noting('a', saysNothing), noting('b'))).toEqual(['a', 'b', undefined]);
});

test('a handler that rejects with nothing has failed all the same', async () => {
  const fail: RequestHandler = () => Promise.reject();
  expect(await runAll(noting('a', fail), noting('b'))).toEqual(['a', expect.any(Error)]);
});

test('next by "route" leaves out the rest and is passed on', async () => {
  const leave: RequestHandler = (_req, _res, next) => next('route');
  expect(await runAll(noting('a', leave), noting('b'))).toEqual(['a', 'route']);
});

test('one that goes on after an await is followed all the same', async () => {
  const late: RequestHandler = async (_req, _res, next) => {
    await Promise.resolve();
    next();
  };
  expect(await runAll(noting('a', late), noting('b'))).toEqual(['a', 'b', undefined]);
});
