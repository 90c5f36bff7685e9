import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Span } from './bring-forward.ts';
import { createRecovery, repeatsOfRecovery } from './recovery.ts';

const second = 1_000;
const minute = 60 * second;

function open(repeatAfterMs = repeatsOfRecovery) {
  const spans: Span[] = [];
  const errors: unknown[] = [];
  const counts: number[] = [];
  let now = 0;
  let failure: Error | undefined;
  const recovery = createRecovery({
    async bringForward(span) {
      if (failure) throw failure;
      return spans.push(span);
    },
    repeatAfterMs,
    onBroughtForward: (events) => counts.push(events),
    onError: (error) => errors.push(error),
    hostNow: () => now,
  });
  const takeAt = async (...times: number[]) => {
    for (const time of times) {
      now = time;
      recovery.onTaken();
      await nextTurn();
    }
    return spans.splice(0);
  };
  const fail = (error: Error | undefined) => {
    failure = error;
  };
  return { recovery, takeAt, spans, errors, counts, fail };
}

const begin = 100 * minute;

test('the first event that a worker sees taken brings forward everything before it', async () => {
  const { takeAt, counts } = open();
  expect(await takeAt(begin)).toEqual([{ from: Number.NEGATIVE_INFINITY, until: begin }]);
  expect(counts).toEqual([1]);
});

test('an event taken after a silence brings forward the attempts that began ten seconds or more after the last success', async () => {
  const { takeAt } = open();
  await takeAt(begin);
  const [lastTaken, back] = [begin + 5 * minute, begin + 30 * minute];
  await takeAt(lastTaken);
  expect(await takeAt(back)).toEqual([{ from: lastTaken + 10 * second, until: back }]);
});

test('a subscriber that takes events all the time gets none early, so that an event it refuses keeps its pauses', async () => {
  const { takeAt } = open([]);
  await takeAt(begin);
  const times = Array.from({ length: 100 }, (_, index) => begin + (index + 1) * 9 * second);
  expect(await takeAt(...times)).toEqual([]);
});

test('a recovery is repeated three times within minutes, for the events that failed again, and then no more', async () => {
  const { takeAt } = open();
  await takeAt(begin);
  const back = begin + 30 * minute;
  const from = begin + 10 * second;
  const ages = Array.from({ length: 100 }, (_, index) => index * 5 * second);
  expect(await takeAt(...ages.map((age) => back + age))).toEqual(
    [0, 30, 90, 210].map((age) => ({ from, until: back + age * second })),
  );
});

test('a queue’s jobs are brought forward once, because each attempt counts', async () => {
  const { takeAt } = open([]);
  await takeAt(begin);
  const back = begin + 30 * minute;
  expect(await takeAt(...[0, 5, 10, 15].map((age) => back + age * second))).toHaveLength(1);
});

test('a recovery that fails is tried at the next event, and its error is reported', async () => {
  const { takeAt, fail, errors } = open();
  fail(new Error('Redis is away'));
  expect(await takeAt(begin)).toEqual([]);
  fail(undefined);
  expect(await takeAt(begin + 1)).toEqual([{ from: Number.NEGATIVE_INFINITY, until: begin + 1 }]);
  expect(errors).toEqual([new Error('Redis is away')]);
});

test('an operator’s order brings forward what failed before it, once, and again if that fails', async () => {
  const { recovery, takeAt, spans, fail } = open();
  await takeAt(begin);
  const orderedAt = 5;
  fail(new Error('Redis is away'));
  recovery.retry(orderedAt, 3 * second);
  await nextTurn();
  fail(undefined);
  for (const age of [4, 5, 6]) {
    recovery.retry(orderedAt, age * second);
    await nextTurn();
  }
  recovery.retry(orderedAt - 1, 0);
  await nextTurn();
  expect(spans).toEqual([{ from: Number.NEGATIVE_INFINITY, until: begin - 4 * second }]);
});
