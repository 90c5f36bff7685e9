import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createMemoryCounts } from './memory-counts.ts';

test('counts in memory last for a window, which begins with the first event', async () => {
  const counts = createMemoryCounts(3_600);
  const first = counts.add('a');
  expect(first).toEqual({ count: 1, endsInMs: expect.any(Number) });
  expect(first.endsInMs).toBeLessThanOrEqual(3_600_000);
  while ((counts.find('a')?.endsInMs ?? 0) >= first.endsInMs) await delay(1);
  const second = counts.add('a', 3);
  expect(second.count).toBe(4);
  expect(second.endsInMs).toBeGreaterThan(1);
  expect(second.endsInMs).toBeLessThan(first.endsInMs);
  expect(counts.add('b').count).toBe(1);
  counts.delete('b');
  expect(counts.find('b')).toBeUndefined();

  const brief = createMemoryCounts(0.02);
  expect(brief.add('a', 5).count).toBe(5);
  while (brief.find('a') !== undefined) await delay(1);
  expect(brief.add('a').count).toBe(1);
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
