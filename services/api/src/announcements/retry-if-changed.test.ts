import { expect, test } from '@jest/globals';
import { ChangedMeanwhile, retryIfChanged } from './retry-if-changed.ts';

/** Makes a change that finds the account changed so many times, and returns what each try has seen. */
async function change(conflicts: number, first?: string) {
  const seen: string[] = [];
  let reads = 0;
  const read = async () => `read ${++reads}`;
  const made = retryIfChanged(
    read,
    async (account) => {
      seen.push(account);
      if (seen.length <= conflicts) throw new ChangedMeanwhile();
      return 'made';
    },
    first,
  );
  return { seen, result: await made.catch((error: unknown) => error) };
}

test('a change is made by what was read', async () => {
  expect(await change(0)).toEqual({ seen: ['read 1'], result: 'made' });
});

test('a change that finds the account changed since it was read reads it again', async () => {
  expect(await change(2)).toEqual({ seen: ['read 1', 'read 2', 'read 3'], result: 'made' });
});

test('a change takes what its caller has read, and reads only if that has changed', async () => {
  expect(await change(0, 'given')).toEqual({ seen: ['given'], result: 'made' });
  expect(await change(1, 'given')).toEqual({ seen: ['given', 'read 1'], result: 'made' });
});

test('a change gives up after five conflicts, and may be sent again', async () => {
  const { seen, result } = await change(5);
  expect(seen).toHaveLength(5);
  expect(result).toMatchObject({ code: 'ERR-DEPENDENCY-UNAVAILABLE', retryAfterSeconds: 1 });
});

test('a change that fails for another reason is not tried again', async () => {
  const fault = new Error('x');
  const tries: unknown[] = [];
  const failing = async (account: unknown) => {
    tries.push(account);
    throw fault;
  };
  await expect(retryIfChanged(async () => 'read', failing)).rejects.toBe(fault);
  expect(tries).toEqual(['read']);
});
