import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createTurnCollector } from './collect-turn.ts';

function scene(most: number) {
  const handedOn: (readonly number[])[] = [];
  return { collect: createTurnCollector<number>(most, (items) => handedOn.push(items)), handedOn };
}

test('what comes in one turn goes on together, what comes later goes by itself', async () => {
  const { collect, handedOn } = scene(10);
  collect(1);
  await Promise.resolve();
  collect(2);
  expect(handedOn).toStrictEqual([]);
  await nextTurn();
  collect(3);
  await nextTurn();
  await nextTurn();
  expect(handedOn).toStrictEqual([[1, 2], [3]]);
});

test('as many as may go together go at once', async () => {
  const { collect, handedOn } = scene(2);
  for (const item of [1, 2, 3, 4, 5]) collect(item);
  expect(handedOn).toStrictEqual([
    [1, 2],
    [3, 4],
  ]);
  await nextTurn();
  await nextTurn();
  expect(handedOn).toStrictEqual([[1, 2], [3, 4], [5]]);
});
