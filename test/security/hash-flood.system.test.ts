import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Flood, floodLogins } from '../support/login-flood.ts';
import type { Timed } from '../support/timed.ts';

const count = 400;
const hashMemoryMib = 256;

/** MiB for everything but the hashes: the connections, their requests, and garbage not collected yet. */
const otherMemoryMib = 192;

let flood: Flood;
beforeAll(async () => {
  // Without bounds, a machine with many cores would shed nothing.
  const bounds = { HASH_CONCURRENCY: '2', HASH_QUEUE_LIMIT: '32', HASH_MEMORY_MIB: String(hashMemoryMib) };
  // A busy machine may need a second for the new connections alone.
  const env = { ...bounds, HASH_QUEUE_TIMEOUT_MS: '3000' };
  flood = await floodLogins({ logins: count, env });
});

describe('many logins at once', () => {
  test('each of many logins at once is answered 200, 401 or 503', () => {
    expect(flood.logins).toHaveLength(count);
    expect(flood.logins.filter(({ status }) => ![200, 401, 503].includes(status))).toEqual([]);
  });

  test('the hash queue admits right and wrong logins as far as it goes, and the rest get 503', () => {
    const countOf = (wanted: number) => flood.logins.filter(({ status }) => status === wanted).length;
    expect(countOf(503)).toBeGreaterThan(0);
    expect(countOf(200)).toBeGreaterThan(0);
    expect(countOf(401)).toBeGreaterThan(0);
  });

  test('each 503 to a flood of logins has a Retry-After', () => {
    const shed = flood.logins.filter(({ status }) => status === 503);
    expect(shed.filter(({ retryAfter }) => !/^[1-9]\d*$/.test(retryAfter ?? ''))).toEqual([]);
  });

  test('a flood of logins takes no more memory than the hashes may', () => {
    expect(flood.memoryPeak - flood.memoryBefore).toBeLessThan(hashMemoryMib + otherMemoryMib);
  });

  test('during a flood of logins, public keys and refreshes are answered 200', () => {
    const { keys, refreshes } = flood;
    expect(keys.length).toBeGreaterThan(1);
    expect(refreshes.some(({ status }) => status === 200)).toBe(true);
    // If the machine stalls, MongoDB's own time-out may pass.
    const isOurs = ({ status, code }: Timed) => status !== 200 && code !== 'ERR-DEPENDENCY-UNAVAILABLE';
    expect([...keys, ...refreshes].filter(isOurs)).toEqual([]);
  });
});
