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

test('while nothing can be written no more than 10,000 attempts wait for it', async () => {
  const { record, written, write } = createWaitingRecorder();
  const recorded = Array.from({ length: 12_000 }, () => record('an-event', attempt));
  write.resolve();
  await Promise.all(recorded);
  expect(written).toHaveLength(10_000);
});
