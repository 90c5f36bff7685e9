import { beforeAll, describe, expect, test } from '@jest/globals';
import { describeFlood } from '../support/describe-flood.ts';
import { type Flood, floodLogins } from '../support/login-flood.ts';
import type { Timed } from '../support/timed.ts';

const hashMemoryMib = 256;

/** MiB for everything but the hashes: a thousand connections, their requests, and garbage not collected yet. */
const otherMemoryMib = 192;

let flood: Flood;
beforeAll(async () => {
  // Without bounds, a machine with many cores would shed nothing.
  const bounds = { HASH_CONCURRENCY: '2', HASH_QUEUE_LIMIT: '128', HASH_MEMORY_MIB: String(hashMemoryMib) };
  // A busy machine may need a second for a thousand new connections alone.
  const env = { ...bounds, HASH_QUEUE_TIMEOUT_MS: '3000' };
  flood = await floodLogins({ logins: 1_000, warmUpLogins: 0, env });
  console.info(describeFlood(flood));
});

describe('a thousand logins at once', () => {
  test('are answered, every one: right, wrong, or 503', () => {
    expect(flood.logins).toHaveLength(1_000);
    expect(flood.logins.filter(({ status }) => ![200, 401, 503].includes(status))).toEqual([]);
  });

  test('are let in as far as the queue goes, whether right or wrong, and the rest is shed', () => {
    const count = (wanted: number) => flood.logins.filter(({ status }) => status === wanted).length;
    expect(count(503)).toBeGreaterThan(0);
    expect(count(200)).toBeGreaterThan(0);
    expect(count(401)).toBeGreaterThan(0);
  });

  test('that are shed are told when to come again', () => {
    const shed = flood.logins.filter(({ status }) => status === 503);
    expect(shed.filter(({ retryAfter }) => !/^[1-9]\d*$/.test(retryAfter ?? ''))).toEqual([]);
  });

  test('take no more memory than they are given', () => {
    expect(flood.memoryPeak - flood.memoryBefore).toBeLessThan(hashMemoryMib + otherMemoryMib);
  });

  test('leave the public keys and refreshes as they were: all 200', () => {
    const { keys, refreshes } = flood.flooded;
    expect(keys.length).toBeGreaterThan(1);
    expect(refreshes.some(({ status }) => status === 200)).toBe(true);
    // If the machine stalls, MongoDB's own time-out may pass.
    const isOurs = ({ status, code }: Timed) => status !== 200 && code !== 'ERR-DEPENDENCY-UNAVAILABLE';
    expect([...keys, ...refreshes].filter(isOurs)).toEqual([]);
  });
});

describe('hashes at once', () => {
  let small: Flood;
  beforeAll(async () => {
    // Long enough for the slowest machine, because nobody may be shed here.
    const env = { HASH_CONCURRENCY: '64', HASH_MEMORY_MIB: '132', HASH_QUEUE_TIMEOUT_MS: '60000' };
    small = await floodLogins({ logins: 40, warmUpLogins: 0, env });
  });

  test('are no more than there is memory for, however many are asked for', () => {
    expect(small.slots).toBe(3);
  });

  test('and a client that has waited is answered', () => {
    expect(small.logins.filter(({ status }) => status !== 200 && status !== 401)).toEqual([]);
  });
});
