import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordedAttempt } from '@auth-account/stores';
import { expect, test } from '@jest/globals';
import { createAttemptRecorder } from './attempt-recorder.ts';

const attempt = { subscriber: 'billing', at: new Date(), outcome: 'delivered' } as const;

function createWaitingRecorder() {
  const written: RecordedAttempt[] = [];
  const write = Promise.withResolvers<void>();
  const record = createAttemptRecorder({
    outbox: {
      async record(attempts) {
        await write.promise;
        written.push(...attempts);
      },
    },
    subscribers: ['billing'],
    onError: () => undefined,
  });
  return { record, written, write };
}

test('an attempt is recorded for the replay that its job belongs to', async () => {
  const { record, written, write } = createWaitingRecorder();
  write.resolve();
  await record('an-event', attempt);
  await record('an-event.1763712000000', attempt);
  expect(written).toEqual([
    { eventId: 'an-event', attempt, replayedAt: undefined },
    { eventId: 'an-event', attempt, replayedAt: new Date(1_763_712_000_000) },
  ]);
});

test('at most 10,000 attempts wait while the store cannot be written', async () => {
  const { record, written, write } = createWaitingRecorder();
  const recorded = Array.from({ length: 12_000 }, () => record('an-event', attempt));
  write.resolve();
  await Promise.all(recorded);
  expect(written).toHaveLength(10_000);
});

test('attempts that come during a write go with the next one, 500 at most', async () => {
  const writes: number[] = [];
  const first = Promise.withResolvers<void>();
  const record = createAttemptRecorder({
    outbox: {
      async record(attempts) {
        writes.push(attempts.length);
        await first.promise;
      },
    },
    subscribers: ['billing'],
    onError: () => undefined,
  });
  const recorded = [record('first', attempt)];
  while (writes.length === 0) await nextTurn();
  for (let n = 0; n < 600; n += 1) recorded.push(record(`event-${n}`, attempt));
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(writes).toEqual([1]);
  first.resolve();
  await Promise.all(recorded);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(writes).toEqual([1, 500, 100]);
});

test('a failed write names the events in its report, and the next attempts are recorded', async () => {
  const notified: unknown[] = [];
  const written: string[] = [];
  const away = new Error('MongoDB is away');
  const record = createAttemptRecorder({
    outbox: {
      async record(attempts) {
        if (attempts.some(({ eventId }) => eventId === 'lost')) throw away;
        written.push(...attempts.map(({ eventId }) => eventId));
      },
    },
    subscribers: ['billing'],
    onError: (...given) => notified.push(given),
  });
  await Promise.all([record('lost', attempt), record('with-it.1763712000000', attempt)]);
  await record('next', attempt);
  expect(notified).toEqual([[away, { event_ids: ['lost', 'with-it'] }]]);
  expect(written).toEqual(['next']);
});
