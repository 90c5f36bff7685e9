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

  test('counts the wait from when the request was received, not from when it came to the gate', async () => {
    const gate = createHashGate({ slots: 1, queueLimit: 5, waitMs: 10_000, now: () => 30_000 });
    const running = controlled();
    const first = gate.run(running.work);
    const [old, fresh] = [controlled(), controlled()];
    const waiting = gate.run(fresh.work, 29_000);
    await expect(gate.run(old.work, 20_000)).rejects.toMatchObject({ code: 'ERR-OVERLOADED' });
    expect(old.isStarted()).toBe(false);
    expect(gate.waiting).toBe(1);
    running.resolve('a');
    fresh.resolve('b');
    expect(await Promise.all([first, waiting])).toEqual(['a', 'b']);
  });

  test('runs not even in a free slot what was received too long ago', async () => {
    const reasons: string[] = [];
    const onShed = (reason: string) => reasons.push(reason);
    const gate = createHashGate({ slots: 1, queueLimit: 5, waitMs: 1_000, onShed, now: () => 30_000 });
    const old = controlled();
    await expect(gate.run(old.work, 28_999)).rejects.toMatchObject({ code: 'ERR-OVERLOADED' });
    expect(old.isStarted()).toBe(false);
    expect(reasons).toEqual(['late']);
    expect(await gate.run(() => Promise.resolve('after'))).toBe('after');
  });

  test('tells apart how long work waited for its slot and how long it took', async () => {
    let time = 0;
    const times: unknown[] = [];
    const options = { slots: 1, queueLimit: 5, waitMs: 10_000, now: () => time };
    const gate = createHashGate({ ...options, onDone: (each) => times.push(each) });
    const [first, second] = [controlled(), controlled()];
    const results = [gate.run(first.work), gate.run(second.work)];
    await settled();
    expect(gate.running).toBe(1);
    time = 30;
    first.resolve('a');
    await settled();
    time = 70;
    second.resolve('b');
    await Promise.all(results);
    expect(times).toEqual([
      { waitedMs: 0, tookMs: 30 },
      { waitedMs: 30, tookMs: 40 },
    ]);
    expect(gate.running).toBe(0);
  });

  test('admits no more than can be hashed in half of the time, by how long the latest hashes took', async () => {
    let time = 0;
    const gate = createHashGate({ slots: 2, queueLimit: 1_000, waitMs: 1_000, now: () => time });
    const hashFor = (ms: number) =>
      gate.run(async () => {
        time += ms;
      });
    const countAdmitted = async () => {
      const held = Promise.withResolvers<void>();
      const requests = Array.from({ length: 200 }, () => gate.admit(() => held.promise));
      held.resolve();
      const results = await Promise.allSettled(requests);
      return results.filter(({ status }) => status === 'fulfilled').length;
    };
    expect(await countAdmitted()).toBe(200);
    await hashFor(50);
    // Those that are in need 20 × 50 ms / 2 slots = 500 ms before one more.
    expect(await countAdmitted()).toBe(21);
    for (let each = 0; each < 100; each++) await hashFor(10);
    expect(await countAdmitted()).toBe(100);
  });

  test('admits as many as it has slots, however long hashes take', async () => {
    let time = 0;
    const gate = createHashGate({ slots: 2, queueLimit: 10, waitMs: 1_000, now: () => time });
    await gate.run(async () => {
      time += 60_000;
    });
    expect(await Promise.all([1, 2].map((each) => gate.admit(async () => each)))).toEqual([1, 2]);
  });
});
