import { expect, test } from '@jest/globals';
import { createOutboxRelease } from './outbox-release.ts';

test('a release runs when ordered, is tried until it succeeds, and runs again for an order meanwhile', async () => {
  let calls = 0;
  let released = 0;
  const release = createOutboxRelease({
    outbox: {
      async release() {
        calls += 1;
        if (calls === 1) throw new Error('MongoDB is away');
        if (calls === 2) release.order();
      },
    },
    now: () => new Date(),
    onReleased() {
      released += 1;
    },
  });
  await release.run();
  expect(calls).toBe(0);
  release.order();
  await expect(release.run()).rejects.toThrow('away');
  for (const _ of [1, 2, 3]) await release.run();
  expect([calls, released]).toEqual([3, 2]);
});
