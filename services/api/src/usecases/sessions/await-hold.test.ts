import { expect, test } from '@jest/globals';
import { createAwaitHold } from './await-hold.ts';

const now = new Date('2026-01-02T03:04:05Z');
const held = { _id: 'session', hold: { by: 'change', until: new Date(now.getTime() + 1) } };
const busy = { code: 'ERR-DEPENDENCY-UNAVAILABLE' };

test('a held session lets two refreshes wait, and each that ends admits one more', async () => {
  const begin = createAwaitHold(() => now);
  const [first, second] = [begin()(held), begin()(held)];
  await expect(begin()(held)).rejects.toMatchObject(busy);
  expect(await first).toBe(false);
  const third = begin()(held);
  await expect(begin()(held)).rejects.toMatchObject(busy);
  expect(await Promise.all([second, third])).toEqual([false, false]);
  const later = [begin()(held), begin()(held)];
  await expect(begin()(held)).rejects.toMatchObject(busy);
  expect(await Promise.all(later)).toEqual([false, false]);
});

test('a session without a hold, and one whose hold ends now, is free at once', async () => {
  const awaitHold = createAwaitHold(() => now)();
  expect(await awaitHold({ _id: 'session' })).toBe(true);
  expect(await awaitHold({ _id: 'session', hold: { by: 'change', until: now } })).toBe(true);
});
