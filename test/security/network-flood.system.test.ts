import { beforeAll, describe, expect, test } from '@jest/globals';
import { floodFromNetworks, type NetworkFlood } from './floods/network-flood.ts';

let flood: NetworkFlood;
beforeAll(async () => {
  const limits = { REGISTER_LIMIT_PER_ADDRESS: '5', LOGIN_LIMIT_PER_ADDRESS: '20' };
  // The gate has fewer slots than the flood has connections, but more than it has IP addresses. However slow the
  // machine is, nobody is shed for being late.
  const gate = { HASH_CONCURRENCY: '2', HASH_QUEUE_LIMIT: '16', HASH_QUEUE_TIMEOUT_MS: '60000' };
  const env = { ...limits, ...gate };
  flood = await floodFromNetworks({ addresses: 3, connections: 20, seconds: 60, logins: 30, env });
});

describe('a flood of registrations and logins by twenty connections from each of three IP addresses', () => {
  // guarantees: flood-elsewhere
  test('while three IP addresses flood the api, nine of ten logins from elsewhere succeed', () => {
    expect(flood.victims.length).toBeGreaterThan(0);
    const right = flood.victims.filter(({ status }) => status === 200);
    expect(right.length / flood.victims.length).toBeGreaterThanOrEqual(0.9);
  });

  test('a flood from three IP addresses gets what their limits allow, and is refused past that', () => {
    const { 200: right = 0, 201: replays = 0, 429: limited = 0, ...others } = flood.flood;
    expect(right).toBe(0);
    expect(replays).toBeLessThanOrEqual(3 * 5);
    expect(limited).toBeGreaterThan(0);
    expect(Object.keys(others).filter((status) => status !== '401' && status !== '503')).toEqual([]);
  });
});
