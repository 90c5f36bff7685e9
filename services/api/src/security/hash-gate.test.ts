import { describe, expect, test } from '@jest/globals';
import { createHashGate } from './hash-gate.ts';

/** Work that ends when it is told to. */
function controlled() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let isStarted = false;
  const work = () => {
    isStarted = true;
    return promise;
  };
  return { work, resolve, reject, isStarted: () => isStarted };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the hash gate', () => {
  test('runs as many at once as it has slots, and the rest in the order of their coming', async () => {
    const gate = createHashGate({ slots: 2, queueLimit: 10, waitMs: 10_000 });
    const jobs = Array.from({ length: 4 }, controlled);
    const results = jobs.map(({ work }) => gate.run(work));
    await settled();
    expect(jobs.map((job) => job.isStarted())).toEqual([true, true, false, false]);
    expect(gate.waiting).toBe(2);
    jobs[1]?.resolve('b');
    await settled();
    expect(jobs.map((job) => job.isStarted())).toEqual([true, true, true, false]);
    jobs[0]?.resolve('a');
    jobs[2]?.resolve('c');
    jobs[3]?.resolve('d');
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
    expect(gate.waiting).toBe(0);
  });

  test('gives the slot of work that failed to the next', async () => {
    const gate = createHashGate({ slots: 1, queueLimit: 10, waitMs: 10_000 });
    const [bad, good] = [controlled(), controlled()];
    const results = [gate.run(bad.work), gate.run(good.work)];
    bad.reject(new Error('out of memory'));
    await expect(results[0]).rejects.toThrow('out of memory');
    good.resolve('fine');
    expect(await results[1]).toBe('fine');
    expect(await gate.run(() => Promise.resolve('after'))).toBe('after');
  });

  test('sheds with ERR-OVERLOADED what finds the queue full, and runs it not', async () => {
    const reasons: string[] = [];
    const gate = createHashGate({ slots: 1, queueLimit: 1, waitMs: 10_000, onShed: (reason) => reasons.push(reason) });
    const jobs = Array.from({ length: 3 }, controlled);
    const results = jobs.map(({ work }) => gate.run(work));
    await expect(results[2]).rejects.toMatchObject({ code: 'ERR-OVERLOADED', retryAfterSeconds: 2 });
    expect(jobs[2]?.isStarted()).toBe(false);
    expect(reasons).toEqual(['full']);
    jobs[0]?.resolve('a');
    jobs[1]?.resolve('b');
    expect(await Promise.all(results.slice(0, 2))).toEqual(['a', 'b']);
  });

  test('sheds what has waited too long, and leaves the others their places', async () => {
    const reasons: string[] = [];
    const gate = createHashGate({ slots: 1, queueLimit: 5, waitMs: 20, onShed: (reason) => reasons.push(reason) });
    const [running, late] = [controlled(), controlled()];
    const first = gate.run(running.work);
    await expect(gate.run(late.work)).rejects.toMatchObject({ code: 'ERR-OVERLOADED' });
    expect(late.isStarted()).toBe(false);
    expect(reasons).toEqual(['late']);
    expect(gate.waiting).toBe(0);
    running.resolve('a');
    expect(await first).toBe('a');
  });

  test('admits as many requests at once as there are slots and places to wait, and runs no other', async () => {
    const reasons: string[] = [];
    const gate = createHashGate({ slots: 1, queueLimit: 1, waitMs: 10_000, onShed: (reason) => reasons.push(reason) });
    const jobs = Array.from({ length: 3 }, controlled);
    const results = jobs.map(({ work }) => gate.admit(work));
    await expect(results[2]).rejects.toMatchObject({ code: 'ERR-OVERLOADED', retryAfterSeconds: 2 });
    expect(jobs.map((job) => job.isStarted())).toEqual([true, true, false]);
    expect(reasons).toEqual(['full']);
    jobs[0]?.reject(new Error('wrong password'));
    await expect(results[0]).rejects.toThrow('wrong password');
    expect(await gate.admit(() => gate.run(() => Promise.resolve('after')))).toBe('after');
    jobs[1]?.resolve('b');
    expect(await results[1]).toBe('b');
  });
});
