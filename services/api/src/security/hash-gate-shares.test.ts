import { afterEach, describe, expect, test } from '@jest/globals';
import { createHashGate, type HashGateOptions } from './hash-gate.ts';

const hour = 3_600_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Ends the hashes of a gate, so that no timer of a waiting request is left. */
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const endAll of endings.splice(0)) await endAll();
});

/** Opens a gate of one slot whose hashes end on command, and records what became of each request. */
function openGate(options: Partial<HashGateOptions> = {}) {
  const shed: string[] = [];
  const gate = createHashGate({ slots: 1, queueLimit: 7, waitMs: hour, onShed: (why) => shed.push(why), ...options });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const end = async () => {
    ends.shift()?.();
    await settled();
  };
  endings.push(async () => {
    while (ends.length > 0) await end();
  });
  return {
    gate,
    shed,
    begun,
    refused,
    /** Sends a request of that source, under a name. */
    async ask(source: string, name = source): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const work = () => {
        begun.push(name);
        ends.push(resolve);
        return promise;
      };
      gate.admit({ source }, (run) => run(work)).catch(() => refused.push(name));
      await settled();
    },
    end,
  };
}

describe('waiting at the hash gate', () => {
  test('one source may take all waiting slots while nobody else waits', async () => {
    const { gate, ask, refused, shed } = openGate();
    for (let each = 0; each < 9; each += 1) await ask('office');
    expect([gate.running, gate.waiting]).toEqual([1, 7]);
    expect([refused, shed]).toEqual([['office'], ['full']]);
  });

  test('one source may take a quarter of the waiting slots while others wait', async () => {
    const { ask, refused, shed, gate } = openGate();
    for (const source of ['cook', 'office', 'office', 'office', 'guest', 'office']) await ask(source);
    // A quarter of eight is two.
    expect([refused, shed]).toEqual([['office'], ['share']]);
    expect(gate.waiting).toBe(4);
  });

  test('a request is never refused while there is a free slot for it', async () => {
    const { gate, ask, refused } = openGate({ slots: 4, queueLimit: 0 });
    const lookUp = Promise.withResolvers<void>();
    const cook = gate.admit({ source: 'cook' }, () => lookUp.promise);
    for (let each = 1; each <= 3; each += 1) await ask('office');
    expect(refused).toEqual([]);
    expect(gate.running).toBe(3);
    lookUp.resolve();
    await cook;
  });

  // guarantees: flood-elsewhere
  test('waiting slots pass from the source with the most to one with fewer, the youngest first', async () => {
    const { ask, refused, shed, gate } = openGate();
    for (let each = 1; each <= 8; each += 1) await ask('flood', `flood ${each}`);
    await ask('cook');
    await ask('guest');
    expect(refused).toEqual(['flood 8', 'flood 7']);
    expect(shed).toEqual(['share', 'share']);
    expect([gate.running, gate.waiting]).toEqual([1, 7]);
  });

  test('a source that holds one more loses no waiting slot', async () => {
    const { ask, refused, shed } = openGate();
    for (let each = 1; each <= 8; each += 1) await ask(`source ${each}`);
    await ask('source 9');
    await ask('source 1');
    expect(refused).toEqual(['source 9', 'source 1']);
    expect(shed).toEqual(['full', 'full']);
  });

  test('a source loses no slot after its hash has begun', async () => {
    const { ask, refused } = openGate({ slots: 3, queueLimit: 0 });
    for (let each = 1; each <= 3; each += 1) await ask('flood', `flood ${each}`);
    await ask('cook');
    expect(refused).toEqual(['cook']);
  });

  test('a request that has not reached its hash yet can lose its slot too', async () => {
    const shed: string[] = [];
    const gate = createHashGate({ slots: 1, queueLimit: 1, waitMs: hour, onShed: (why) => shed.push(why) });
    const lookUp = Promise.withResolvers<void>();
    const hash = async () => 'hash';
    const ask = (source: string) => gate.admit({ source }, (run) => lookUp.promise.then(() => run(hash)));
    const flood = [ask('flood'), ask('flood')];
    const cook = ask('cook');
    lookUp.resolve();
    const [first, second] = await Promise.allSettled(flood);
    expect(first?.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'ERR-OVERLOADED', retryAfterSeconds: 2 } });
    expect(await cook).toBe('hash');
    expect(shed).toEqual(['share']);
  });

  test('a waiting slot is for one hash', async () => {
    const { gate } = openGate();
    const twice = gate.admit({ source: 'cook' }, async (run) => {
      await run(async () => undefined);
      return run(async () => undefined);
    });
    await expect(twice).rejects.toThrow();
    expect([gate.running, gate.waiting]).toEqual([0, 0]);
    expect(await gate.admit({ source: 'cook' }, (run) => run(async () => 'hash'))).toBe('hash');
  });
});

describe('sources that wait for the hash gate', () => {
  test('waiting sources take turns, and each is served in order of arrival', async () => {
    const { ask, end, begun } = openGate({ queueLimit: 100 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) await ask(name.slice(0, 1), name);
    for (let each = 0; each < 7; each += 1) await end();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  test('waiting sources are forgotten at their deadline, and delay nobody', async () => {
    // By this clock no request is late before the gate's timer ends its wait.
    const { ask, end, begun, refused, shed, gate } = openGate({ waitMs: 20, now: () => 0 });
    await ask('flood', 'first');
    await ask('flood', 'late');
    while (refused.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([refused, shed]).toEqual([['late'], ['late']]);
    await end();
    await ask('cook');
    expect(begun).toEqual(['first', 'cook']);
    await end();
    expect([gate.running, gate.waiting]).toEqual([0, 0]);
  });
});
