import type { Denial } from '@auth-account/messaging/deny-list';
import { expect, test } from '@jest/globals';
import { createAskRedis } from './ask-redis.ts';

const revoked: Denial = { kind: 'revoked', reason: 'SESSION_REVOKED' };

/** Creates a Redis that denies one session, has no answer for the session `lost`, and records the requests. */
function fixture(denied = '') {
  const asked: string[][] = [];
  let last = 100;
  const ask = createAskRedis({
    denyList: {
      async find(sessionIds) {
        asked.push([...sessionIds]);
        if (sessionIds.includes('broken')) throw new Error('Redis is away');
        return sessionIds.filter((id) => id !== 'lost').map((id) => (id === denied ? revoked : undefined));
      },
    },
    async takeStreamNumbers(count) {
      last += count;
      return last - count + 1;
    },
  });
  return { ask, asked };
}

test('questions of one turn are sent together, and each gets its own answer', async () => {
  const { ask, asked } = fixture('b');
  const answers = await Promise.all(['a', 'b', 'c'].map(ask));
  expect(asked).toEqual([['a', 'b', 'c']]);
  expect(answers).toEqual([
    { denial: undefined, streamNumber: 101 },
    { denial: revoked, streamNumber: 102 },
    { denial: undefined, streamNumber: 103 },
  ]);
});

test('at most 256 questions are sent together, and they do not wait for the end of the turn', async () => {
  const { ask, asked } = fixture('600');
  const sessionIds = Array.from({ length: 601 }, (_, place) => String(place));
  const answers = sessionIds.map(ask);
  expect(asked.map(({ length }) => length)).toEqual([256, 256]);
  const denied = (await Promise.all(answers)).flatMap(({ denial }, place) => (denial === undefined ? [] : [place]));
  expect(denied).toEqual([600]);
  expect(asked.flat()).toEqual(sessionIds);
  expect(asked.map(({ length }) => length)).toEqual([256, 256, 89]);
});

test('a full batch is sent once, and an empty batch never', async () => {
  const { ask, asked } = fixture();
  await Promise.all(Array.from({ length: 256 }, () => ask('a')));
  await ask('b');
  expect(asked.map(({ length }) => length)).toEqual([256, 1]);
});

test('an answer that leaves a session out admits nobody', async () => {
  const { ask } = fixture('a');
  const together = await Promise.allSettled([ask('lost'), ask('a')]);
  expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a later question is asked again, with higher numbers', async () => {
  const { ask, asked } = fixture();
  const [first, second] = await Promise.all([ask('a'), ask('a')]);
  const third = await ask('a');
  expect(asked).toEqual([['a', 'a'], ['a']]);
  expect([first, second, third].map(({ streamNumber }) => streamNumber)).toEqual([101, 102, 103]);
});

test('a failure reaches all questions of its batch, and none after them', async () => {
  const { ask } = fixture();
  const together = await Promise.allSettled([ask('a'), ask('broken')]);
  expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(ask('a')).resolves.toMatchObject({ denial: undefined });
});
