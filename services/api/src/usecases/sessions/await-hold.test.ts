import { expect, test } from '@jest/globals';
import { createAwaitHold } from './await-hold.ts';

const held = { _id: 'session', hold: { by: 'change', until: new Date() } };
const busy = { code: 'ERR-DEPENDENCY-UNAVAILABLE' };

test('a held session lets two refreshes wait, and each that ends admits one more', async () => {
  const begin = createAwaitHold();
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

test('a session without a hold is free at once', async () => {
  expect(await createAwaitHold()()({ _id: 'session' })).toBe(true);
});
