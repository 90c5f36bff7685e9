import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createTickBatcher } from './batch-per-tick.ts';

function fixture(most: number) {
  const batches: (readonly number[])[] = [];
  return { add: createTickBatcher<number>(most, (items) => batches.push(items)), batches };
}

test('items of one turn are passed on together, later ones separately', async () => {
  const { add, batches } = fixture(10);
  add(1);
  await Promise.resolve();
  add(2);
  expect(batches).toStrictEqual([]);
  await nextTurn();
  add(3);
  await nextTurn();
  await nextTurn();
  expect(batches).toStrictEqual([[1, 2], [3]]);
});

test('a full batch is passed on at once', async () => {
  const { add, batches } = fixture(2);
  for (const item of [1, 2, 3, 4, 5]) add(item);
  expect(batches).toStrictEqual([
    [1, 2],
    [3, 4],
  ]);
  await nextTurn();
  await nextTurn();
  expect(batches).toStrictEqual([[1, 2], [3, 4], [5]]);
});
