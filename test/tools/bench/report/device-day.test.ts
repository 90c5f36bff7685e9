import { describe, expect, test } from '@jest/globals';
import type { MedianCost } from '../cost/cost-medians.ts';
import { type OperationName, operationNames } from '../cost/operations.ts';
import { deviceDayAims } from './aims.ts';
import { coresForMillion, deviceDays } from './device-day.ts';

const cost = (candidate: string, operation: OperationName, both: number): MedianCost => ({
  ...{ candidate, operation, both, inHashes: both / 12 },
  ...{ server: both, mongod: 0, redis: 0.1, perSecond: 1 },
});
/** Costs of one millisecond, including Redis, for every operation at the api. */
const own = operationNames.map((name) => cost('api', name, 0.9));

describe('a device-day', () => {
  test('a device-day is 24 refreshes, 10 handshakes, 6 reads, and the few others, Redis included', () => {
    const [day] = deviceDays({ costs: own }, 0.5);
    expect(day?.ms).toBeCloseTo(24 + 10 * 0.5 + 6 + 0.05 + 0.02 + 0.01, 10);
    expect(day?.tasks.handshake).toBe(5);
  });

  test('a device-day of a peer is compared over the operations that both have', () => {
    const peer = [cost('peer', 'refresh', 3.9), cost('peer', 'logout', 1.9)];
    const day = deviceDays({ costs: [...own, ...peer] }, 0.5).find(({ candidate }) => candidate === 'peer');
    expect(day?.ms).toBeCloseTo(24 * 4 + 0.02 * 2, 10);
    expect(day?.ofApi).toBeCloseTo(24 + 0.02, 10);
    expect(day?.tasks).not.toHaveProperty('handshake');
  });

  test('a device-day is not summed up if an operation of the api was not measured', () => {
    expect(deviceDays({ costs: own.filter(({ operation }) => operation !== 'login') })).toEqual([]);
  });

  test('a device-day of 86.4 ms for each of a million devices keeps a core busy for a day', () => {
    expect(coresForMillion({ ms: 86.4 })).toBeCloseTo(1, 10);
  });

  test('a device-day is compared with the peer that comes nearest to the api', () => {
    const slow = [cost('slow', 'refresh', 9.9), cost('slow', 'session read', 9.9)];
    const near = (both: number) => [...own, ...slow, cost('near', 'refresh', both)];
    const aims = (both: number) => deviceDayAims(deviceDays({ costs: near(both) }), ['slow', 'near']);
    expect(aims(3.0)).toMatchObject([{ isMet: true, measured: expect.stringContaining('near') }]);
    expect(aims(2.8)).toMatchObject([{ isMet: false, measured: expect.stringContaining('2.90 ×') }]);
  });

  test('a device-day has no aim without a peer', () => {
    expect(deviceDayAims(deviceDays({ costs: own }), [])).toEqual([]);
  });
});
