import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createKeyedLock } from './keyed-lock.ts';

const options = { waitMs: 3_600_000, maximumWaiting: 3 };

/** Creates work that ends when the test settles it. */
function heldWork() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = { hasBegun: false, run: () => begin(), resolve, reject };
  const begin = () => {
    work.hasBegun = true;
    return promise;
  };
  return work;
}

describe('the queue', () => {
  test('the queue runs work of one key in order of arrival, and of another key meanwhile', async () => {
    const inTurn = createKeyedLock(options);
    const log: string[] = [];
    const step = (name: string) => async () => {
      log.push(`${name} begins`);
      await delay(2);
      log.push(`${name} ends`);
    };
    await Promise.all([inTurn('a', step('a1')), inTurn('a', step('a2')), inTurn('b', step('b1'))]);
    const ofA = log.filter((line) => line.startsWith('a'));
    expect(ofA).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends']);
    expect(log.indexOf('b1 begins')).toBeLessThan(log.indexOf('a1 ends'));
  });

  test('the queue continues after work that fails, and passes its error on', async () => {
    const inTurn = createKeyedLock(options);
    const failure = new Error('the store is away');
    const [failed, next] = await Promise.allSettled([
      inTurn('a', () => Promise.reject(failure)),
      inTurn('a', async () => 'done'),
    ]);
    expect(failed).toEqual({ status: 'rejected', reason: failure });
    expect(next).toEqual({ status: 'fulfilled', value: 'done' });
  });

  test('a full queue refuses work at once', async () => {
    const inTurn = createKeyedLock(options);
    const [first, late] = [heldWork(), heldWork()];
    const running = inTurn('a', first.run);
    const waiting = Array.from({ length: options.maximumWaiting }, () => inTurn('a', async () => 'done'));
    const refusal = { code: 'ERR-DEPENDENCY-UNAVAILABLE', retryAfterSeconds: 2 };
    await expect(inTurn('a', late.run)).rejects.toMatchObject(refusal);
    expect(late.hasBegun).toBe(false);
    first.resolve('done');
    expect(await Promise.all([running, ...waiting])).toEqual(Array(4).fill('done'));
  });

  test('work that has waited too long is refused and never runs, and the next gets its turn', async () => {
    const inTurn = createKeyedLock({ ...options, waitMs: 20 });
    const [first, late] = [heldWork(), heldWork()];
    const running = inTurn('a', first.run);
    await expect(inTurn('a', late.run)).rejects.toMatchObject({ code: 'ERR-DEPENDENCY-UNAVAILABLE' });
    const next = inTurn('a', async () => 'next');
    first.resolve('first');
    expect(await Promise.all([running, next])).toEqual(['first', 'next']);
    expect(late.hasBegun).toBe(false);
  });

  test('the time that a call may wait comes from the call', async () => {
    const inTurn = createKeyedLock(options);
    const first = heldWork();
    const running = inTurn('a', first.run);
    const late = inTurn('a', async () => 'ran', { waitMs: 20 });
    await expect(late).rejects.toMatchObject({ code: 'ERR-DEPENDENCY-UNAVAILABLE' });
    first.resolve('first');
    expect(await running).toBe('first');
  });

  test('the queue says to the work how much of the time is left', async () => {
    const inTurn = createKeyedLock(options);
    const first = heldWork();
    const running = inTurn('a', first.run);
    const before = performance.now();
    const waiting = inTurn('a', async (leftMs) => ({ leftMs, at: performance.now() }));
    const asked = performance.now();
    await delay(5);
    const released = performance.now();
    first.resolve('first');
    const { leftMs, at } = await waiting;
    await running;
    expect(leftMs).toBeLessThanOrEqual(options.waitMs - (released - asked));
    expect(leftMs).toBeGreaterThanOrEqual(options.waitMs - (at - before));
  });

  test('the queue runs work as a part of the request that asked for it', async () => {
    const request = new AsyncLocalStorage<string>();
    const inTurn = createKeyedLock(options);
    const ask = (id: string) =>
      request.run(id, () =>
        inTurn('a', async () => {
          await delay(1);
          return request.getStore();
        }),
      );
    expect(await Promise.all(['one', 'two', 'three'].map(ask))).toEqual(['one', 'two', 'three']);
  });
});
