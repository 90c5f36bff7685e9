import { expect, test } from '@jest/globals';
import { createAwaitKey } from './await-key.ts';

const now = new Date('2026-11-25T10:00:00.000Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

/** Creates the function, with a key file in which the key is there at once, after a reread, or never. */
function awaitKeyThatIs(there: 'at once' | 'after a reread' | 'never') {
  const seen = { rereads: 0 };
  const keys = {
    hasKey: (kid: string) => kid === 'key' && (there === 'at once' || (there === 'after a reread' && seen.rereads > 0)),
    async rereadKeys() {
      seen.rereads += 1;
    },
  };
  return { awaitKey: createAwaitKey(keys, () => now), seen };
}

test('an existing key causes no read', async () => {
  const { awaitKey, seen } = awaitKeyThatIs('at once');
  await awaitKey({ kid: 'key', handed_out_at: now });
  expect(seen.rereads).toBe(0);
});

test.each([undefined, now, minutesAgo(6)])('a key that arrives is found by a reread (handed out at %s)', async (at) => {
  const { awaitKey, seen } = awaitKeyThatIs('after a reread');
  await awaitKey({ kid: 'key', ...(at && { handed_out_at: at }) });
  expect(seen.rereads).toBe(1);
});

test.each([undefined, now, minutesAgo(5)])(
  'a key that may still arrive is waited for (handed out at %s)',
  async (at) => {
    const { awaitKey, seen } = awaitKeyThatIs('never');
    const refusal = await awaitKey({ kid: 'key', ...(at && { handed_out_at: at }) }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'MissingKeyError', kid: 'key', kind: 'server' });
    expect(seen.rereads).toBe(1);
  },
);

test('a missing key that must have arrived by now was removed, and the caller decides', async () => {
  const { awaitKey, seen } = awaitKeyThatIs('never');
  await awaitKey({ kid: 'key', handed_out_at: new Date(minutesAgo(5).getTime() - 1) });
  expect(seen.rereads).toBe(1);
});
