import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createTickBatcher } from './batch-per-tick.ts';

function scene(most: number) {
  const enqueued: (readonly number[])[] = [];
  return { collect: createTickBatcher<number>(most, (items) => enqueued.push(items)), enqueued };
}

test('what comes in one turn goes on together, what comes later goes by itself', async () => {
  const { collect, enqueued } = scene(10);
  collect(1);
  await Promise.resolve();
  collect(2);
  expect(enqueued).toStrictEqual([]);
  await nextTurn();
  collect(3);
  await nextTurn();
  await nextTurn();
  expect(enqueued).toStrictEqual([[1, 2], [3]]);
});

test('as many as may go together go at once', async () => {
  const { collect, enqueued } = scene(2);
  for (const item of [1, 2, 3, 4, 5]) collect(item);
  expect(enqueued).toStrictEqual([
    [1, 2],
    [3, 4],
  ]);
  await nextTurn();
  await nextTurn();
  expect(enqueued).toStrictEqual([[1, 2], [3, 4], [5]]);
});
