import { describe, expect, test } from '@jest/globals';
import { createHashGate, type HashGate } from './hash-gate.ts';

/** Creates work that ends on command. */
function controlled() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let isStarted = false;
  const work = () => {
    isStarted = true;
    return promise;
  };
  return { work, resolve, reject, isStarted: () => isStarted };
}

const source = '192.0.2.1/32';
const hour = 3_600_000;

/** Makes one hash through the gate. */
const hashFor = (gate: HashGate, work: () => Promise<unknown>, receivedAt?: number) =>
  gate.admit({ source, receivedAt }, (run) => run(work));

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the hash gate', () => {
  test('the hash gate runs as many at once as it has slots, and the rest in order of arrival', async () => {
    const gate = createHashGate({ slots: 2, queueLimit: 10, waitMs: hour });
    const jobs = Array.from({ length: 4 }, controlled);
    const results = jobs.map(({ work }) => hashFor(gate, work));
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

  test('the hash gate gives the slot of work that failed to the next', async () => {
    const gate = createHashGate({ slots: 1, queueLimit: 10, waitMs: hour });
    const [bad, good] = [controlled(), controlled()];
    const results = [hashFor(gate, bad.work), hashFor(gate, good.work)];
    bad.reject(new Error('out of memory'));
    await expect(results[0]).rejects.toThrow('out of memory');
    good.resolve('fine');
    expect(await results[1]).toBe('fine');
    expect(await hashFor(gate, () => Promise.resolve('after'))).toBe('after');
  });

  test('the hash gate sheds what has waited too long, and keeps the order of the others', async () => {
    const reasons: string[] = [];
    const gate = createHashGate({ slots: 1, queueLimit: 5, waitMs: 20, onShed: (reason) => reasons.push(reason) });
    const [running, late] = [controlled(), controlled()];
    const first = hashFor(gate, running.work);
    await expect(hashFor(gate, late.work)).rejects.toMatchObject({ code: 'ERR-OVERLOADED' });
    expect(late.isStarted()).toBe(false);
    expect(reasons).toEqual(['late']);
    expect(gate.waiting).toBe(0);
    running.resolve('a');
    expect(await first).toBe('a');
  });

  test('the hash gate admits as many requests as there are slots and waiting slots, and runs no other', async () => {
    const reasons: string[] = [];
    const gate = createHashGate({ slots: 1, queueLimit: 1, waitMs: hour, onShed: (reason) => reasons.push(reason) });
    const jobs = Array.from({ length: 3 }, controlled);
    const results = jobs.map(({ work }) => gate.admit({ source }, work));
    await expect(results[2]).rejects.toMatchObject({ code: 'ERR-OVERLOADED', retryAfterSeconds: 2 });
    expect(jobs.map((job) => job.isStarted())).toEqual([true, true, false]);
    expect(reasons).toEqual(['full']);
    jobs[0]?.reject(new Error('wrong password'));
    await expect(results[0]).rejects.toThrow('wrong password');
    expect(await hashFor(gate, () => Promise.resolve('after'))).toBe('after');
    jobs[1]?.resolve('b');
    expect(await results[1]).toBe('b');
  });

  test('the wait at the hash gate counts from the receipt of the request', async () => {
    const gate = createHashGate({ slots: 1, queueLimit: 5, waitMs: 10_000, now: () => 30_000 });
    const running = controlled();
    const first = hashFor(gate, running.work);
    const [old, fresh] = [controlled(), controlled()];
    const waiting = hashFor(gate, fresh.work, 29_000);
    await expect(hashFor(gate, old.work, 20_000)).rejects.toMatchObject({ code: 'ERR-OVERLOADED' });
    expect(old.isStarted()).toBe(false);
    expect(gate.waiting).toBe(1);
    running.resolve('a');
    fresh.resolve('b');
    expect(await Promise.all([first, waiting])).toEqual(['a', 'b']);
  });

  test('a request received too long ago does not run, even in a free slot', async () => {
    const reasons: string[] = [];
    const onShed = (reason: string) => reasons.push(reason);
    const gate = createHashGate({ slots: 1, queueLimit: 5, waitMs: 1_000, onShed, now: () => 30_000 });
    const old = controlled();
    await expect(hashFor(gate, old.work, 28_999)).rejects.toMatchObject({ code: 'ERR-OVERLOADED' });
    expect(old.isStarted()).toBe(false);
    expect(reasons).toEqual(['late']);
    expect(await hashFor(gate, () => Promise.resolve('after'))).toBe('after');
  });

  test('the hash gate measures separately the wait for a slot and the work', async () => {
    let time = 0;
    const times: unknown[] = [];
    const options = { slots: 1, queueLimit: 5, waitMs: hour, now: () => time };
    const gate = createHashGate({ ...options, onDone: (each) => times.push(each) });
    const [first, second] = [controlled(), controlled()];
    const results = [hashFor(gate, first.work), hashFor(gate, second.work)];
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

  test('the hash gate admits no more than fits into half of the time, by the latest durations', async () => {
    let time = 0;
    const gate = createHashGate({ slots: 2, queueLimit: 1_000, waitMs: 1_000, now: () => time });
    const hashOf = (ms: number) =>
      hashFor(gate, async () => {
        time += ms;
      });
    const countAdmitted = async () => {
      const held = Promise.withResolvers<void>();
      const requests = Array.from({ length: 200 }, () => gate.admit({ source }, () => held.promise));
      held.resolve();
      const results = await Promise.allSettled(requests);
      return results.filter(({ status }) => status === 'fulfilled').length;
    };
    expect(await countAdmitted()).toBe(200);
    await hashOf(50);
    // The 20 hashes that are in take 20 × 50 ms / 2 slots = 500 ms. One more hash may come after them.
    expect(await countAdmitted()).toBe(21);
    for (let each = 0; each < 100; each++) await hashOf(10);
    expect(await countAdmitted()).toBe(100);
  });

  test('the hash gate admits as many as it has slots, however long hashes take', async () => {
    let time = 0;
    const gate = createHashGate({ slots: 2, queueLimit: 10, waitMs: 1_000, now: () => time });
    await hashFor(gate, async () => {
      time += 60_000;
    });
    expect(await Promise.all([1, 2].map((each) => gate.admit({ source }, async () => each)))).toEqual([1, 2]);
  });
});
