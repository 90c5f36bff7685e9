import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createMemoryCounts } from './memory-counts.ts';

test('counts in memory last for a window, which begins with the first event', async () => {
  const counts = createMemoryCounts(0.2);
  expect(counts.add('a')).toEqual({ count: 1, endsInMs: expect.any(Number) });
  expect(counts.add('a', 3).count).toBe(4);
  expect(counts.add('b').count).toBe(1);
  const { endsInMs = 0 } = counts.find('a') ?? {};
  expect(endsInMs).toBeGreaterThan(0);
  expect(endsInMs).toBeLessThanOrEqual(200);
  expect(createMemoryCounts(60).add('a').endsInMs).toBeGreaterThan(1);
  counts.delete('b');
  expect(counts.find('b')).toBeUndefined();
  while (counts.find('a') !== undefined) await delay(10);
  expect(counts.add('a').count).toBe(1);
});

test('a process that has not needed counts in memory has none', () => {
  const counts = createMemoryCounts(60);
  counts.delete('a');
  expect(counts.find('a')).toBeUndefined();
});

test('counts in memory are bounded: the least recently used key is forgotten', () => {
  const counts = createMemoryCounts(60, 3);
  for (const key of ['a', 'b', 'c', 'a', 'd']) counts.add(key);
  expect(['a', 'b', 'c', 'd'].map((key) => counts.find(key)?.count)).toEqual([2, undefined, 1, 1]);
});
