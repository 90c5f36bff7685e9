import { setTimeout as pause } from 'node:timers/promises';
import type { AuthEvent } from '@auth-account/contracts/events';
import { createAccountEvent, createRegisteredEvent } from '@auth-account/messaging';
import { createLogger, createMetrics } from '@auth-account/telemetry';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { UnrecoverableError } from 'bullmq';
import { createWorkerMetrics, type WorkerMetrics } from '../runtime/metrics.ts';
import { createDeliverEvent, type DeliverEventDeps } from './deliver-event.ts';
import { DeliveryError } from './delivery-error.ts';

const begin = Date.parse('2026-11-21T10:00:00.000Z');
const giveUpAfterMs = 60_000;
const event = createRegisteredEvent(
  {
    user_id: '0190a3b4-c5d6-7000-8000-000000000001',
    home_group_id: '3f2f1c5e-8a58-4a53-9d0e-0d9a4b7a5c11',
    account_type: 'HOME',
    space_creation_mode: 'CREATE_NEW_HOME',
    is_new_group: true,
    registered_at: '2026-01-02T03:04:05.000Z',
  },
  { id: '0190a3b4-c5d6-7000-8000-000000000002', requestId: 'request-1' },
);
type EventJob = { id: string; data: AuthEvent; timestamp: number; attemptsMade: number };
const job: EventJob = { id: event.id, data: event, timestamp: begin, attemptsMade: 2 };

let time: number;
let metrics: WorkerMetrics;
let logged: Record<string, unknown>[];
/** Calls of the parts, in order. */
let notified: unknown[];
beforeEach(() => {
  time = begin + 1_000;
  metrics = createWorkerMetrics(createMetrics({ service: 'worker' }), ['billing']);
  logged = [];
  notified = [];
});

function deliver(change: Partial<DeliverEventDeps> = {}, stop?: AbortSignal, one: Partial<EventJob> = {}) {
  const deps: DeliverEventDeps = {
    subscriber: 'billing',
    subscribers: ['analytics', 'billing'],
    send: async () => 204,
    record: async (jobId, attempt) => void notified.push(['record', jobId, attempt]),
    deadLetters: { add: async (givenUp) => notified.push(['deadLetter', givenUp]) > 0 },
    suspension: { suspend: async (...suspended) => void notified.push(['suspend', ...suspended]), resumedAt: () => 0 },
    onThrottled: (ms) => notified.push(['throttled', ms]),
    giveUpAfterMs,
    metrics,
    logger: createLogger({
      service: 'worker',
      level: 'debug',
      destination: { write: (line: string) => void logged.push(JSON.parse(line)) },
    }),
    now: () => new Date(time),
    ...change,
  };
  return createDeliverEvent(deps)({ ...job, ...one }, undefined, stop);
}

const failing = (error: unknown): Partial<DeliverEventDeps> => ({ send: () => Promise.reject(error) });
const attempt = (fields: object) => ({
  subscriber: 'billing',
  at: new Date(time),
  duration_ms: expect.any(Number),
  ...fields,
});
const outcomes = async () => {
  const { values } = await metrics.deliveries.get();
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.outcome, value]),
  );
};
const measured = async () => {
  const { values } = await metrics.deliveryDuration.get();
  return values.find(({ metricName, labels }) => metricName?.endsWith('_count') && labels.subscriber === 'billing')
    ?.value;
};

describe('successful attempts', () => {
  test('a successful attempt is recorded before the job completes, counted and measured', async () => {
    const sent: unknown[] = [];
    const stop = new AbortController().signal;
    const send: DeliverEventDeps['send'] = async (...given) => {
      sent.push(given);
      return 202;
    };
    await deliver({ send }, stop);
    expect(sent).toEqual([[event, stop]]);
    expect(notified).toEqual([['record', event.id, attempt({ outcome: 'delivered', status: 202 })]]);
    expect(await outcomes()).toEqual({ delivered: 1 });
    expect(await measured()).toBe(1);
    expect(logged).toEqual([]);
  });

  test('a successful attempt of a job without an id is recorded by the event’s id', async () => {
    await deliver({}, undefined, { id: undefined as never });
    expect(notified).toEqual([['record', event.id, attempt({ outcome: 'delivered', status: 204 })]]);
  });

  test('a successful attempt has its real duration, in milliseconds in its record and in seconds in the metric', async () => {
    const start = performance.now();
    await deliver({ send: () => pause(5, 204) });
    const elapsed = performance.now() - start;
    const [[, , noted]] = notified as [[string, string, { duration_ms: number }]];
    const { values } = await metrics.deliveryDuration.get();
    const seconds = values.find(({ metricName }) => metricName?.endsWith('_sum'))?.value ?? 0;
    expect(noted.duration_ms).toBe(Math.round(seconds * 1_000));
    expect(noted.duration_ms).toBeGreaterThan(0);
    expect(seconds * 1_000).toBeLessThanOrEqual(elapsed);
  });

  test('an attempt gets a signal even if nobody can stop it', async () => {
    let signal: AbortSignal | undefined;
    const send: DeliverEventDeps['send'] = async (_, given) => {
      signal = given;
      return 204;
    };
    await deliver({ send });
    expect(signal?.aborted).toBe(false);
  });
});

describe('requests to email a code', () => {
  const expiringAt = (at: number) =>
    createAccountEvent(
      'service.auth.events.code_requested',
      {
        challenge_id: '0190a3b4-c5d6-4000-8000-000000000003',
        user_id: '0190a3b4-c5d6-7000-8000-000000000001',
        purpose: 'password_reset',
        locale: 'en',
        expires_at: new Date(at).toISOString(),
      },
      { id: event.id, requestId: 'request-1', at: new Date(begin) },
    );
  const expiredCount = async () => (await metrics.expired.get()).values;

  test('a request to email a code is dropped and counted once the code has expired, and nothing is sent', async () => {
    const never: Partial<DeliverEventDeps> = { send: () => Promise.reject(new Error('sent')) };
    await deliver(never, undefined, { data: expiringAt(time) });
    expect(notified).toEqual([['record', event.id, { subscriber: 'billing', at: new Date(time), outcome: 'expired' }]]);
    expect(await expiredCount()).toEqual([{ labels: { subscriber: 'billing' }, value: 1 }]);
    expect(await outcomes()).toEqual({});
  });

  test('a request to email a code is sent until the code expires', async () => {
    await deliver({}, undefined, { data: expiringAt(time + 1) });
    expect(notified).toEqual([['record', event.id, attempt({ outcome: 'delivered', status: 204 })]]);
    expect(await expiredCount()).toEqual([]);
  });
});

// guarantees: deletion-event
test('an event of a deletion is never written off for its age', async () => {
  const data = createAccountEvent(
    'service.auth.events.deleted',
    { ...event.data, deleted_at: event.data.registered_at },
    { id: event.id, requestId: 'request-1', at: new Date(begin) },
  );
  time = begin + 1_000 * giveUpAfterMs;
  const refusal = new DeliveryError('answered 500', { status: 500 });
  await expect(deliver(failing(refusal), undefined, { data })).rejects.toBe(refusal);
  expect(notified).toEqual([['record', event.id, attempt({ outcome: 'failed', status: 500, error: 'answered 500' })]]);
  expect(await outcomes()).toEqual({ failed: 1 });
});

describe('failed attempts', () => {
  test('a failed attempt is recorded with its error, counted, logged, and tried again', async () => {
    const error = new DeliveryError('answered 500', { status: 500 });
    await expect(deliver(failing(error))).rejects.toBe(error);
    expect(notified).toEqual([
      ['record', event.id, attempt({ outcome: 'failed', status: 500, error: 'answered 500' })],
    ]);
    expect(await outcomes()).toEqual({ failed: 1 });
    expect(await measured()).toBe(1);
    expect(logged).toEqual([
      expect.objectContaining({
        subscriber: 'billing',
        event_id: event.id,
        request_id: 'request-1',
        attempt: 3,
        givenUp: false,
        msg: 'event not delivered',
        err: expect.objectContaining({ message: 'answered 500' }),
      }),
    ]);
  });

  test.each([
    ['an error without an answer', new Error('no answer: ECONNREFUSED'), 'no answer: ECONNREFUSED'],
    ['what is no error', 'odd', 'odd'],
  ])('an attempt that fails with %s is recorded without a status', async (_, error, message) => {
    await expect(deliver(failing(error))).rejects.toBe(error);
    const noted = attempt({ outcome: 'failed', error: message });
    expect(notified).toEqual([['record', event.id, noted]]);
    expect((notified as [string, string, object][])[0]?.[2]).not.toHaveProperty('status');
  });

  test('a failed attempt of a job without an id is recorded by the event’s id', async () => {
    const error = new Error('no answer');
    await expect(deliver(failing(error), undefined, { id: undefined as never })).rejects.toBe(error);
    expect(notified).toEqual([['record', event.id, attempt({ outcome: 'failed', error: 'no answer' })]]);
  });

  test.each([
    [429, 7_000, [['throttled', 7_000]]],
    [429, undefined, []],
    [503, 7_000, []],
  ])(
    'an attempt that fails with %d and Retry-After %p ms delays the others: %j',
    async (status, retryAfterMs, first) => {
      const error = new DeliveryError(`answered ${status}`, { status, retryAfterMs });
      await expect(deliver(failing(error))).rejects.toBe(error);
      expect(notified.slice(0, -1)).toEqual(first);
    },
  );
});

describe('subscribers that answer 410 Gone', () => {
  const gone = new DeliveryError('answered 410', { status: 410 });

  test('a subscriber that answers 410 Gone is suspended, and its event is kept, however old', async () => {
    time = begin + 10 * giveUpAfterMs;
    await expect(deliver(failing(gone))).rejects.toBe(gone);
    const noted = attempt({ outcome: 'failed', status: 410, error: 'answered 410' });
    expect(notified).toEqual([
      ['suspend', 'billing', event.id],
      ['record', event.id, noted],
    ]);
  });

  test('a 410 Gone fails like any other answer if the suspension cannot be recorded', async () => {
    const suspension = { suspend: () => Promise.reject(new Error('MongoDB is away')), resumedAt: () => 0 };
    await expect(deliver({ ...failing(gone), suspension })).rejects.toBe(gone);
    expect(notified).toHaveLength(1);
    expect(logged.map(({ msg, event_id, subscriber }) => [msg, event_id, subscriber])).toEqual([
      ['event not delivered', event.id, 'billing'],
      ['the suspension could not be recorded', event.id, 'billing'],
    ]);
    expect(logged.at(-1)?.err).toMatchObject({ message: 'MongoDB is away' });
  });
});

describe('events that are too old', () => {
  const error = new DeliveryError('answered 400', { status: 400 });
  const replayedAt = new Date(1_763_712_000_000);

  test('an event becomes a dead letter at its very age limit, without a further attempt', async () => {
    time = begin + giveUpAfterMs;
    const ended = deliver(failing(error));
    await expect(ended).rejects.toBeInstanceOf(UnrecoverableError);
    await expect(ended).rejects.toThrow('answered 400');
    const givenUp = {
      event,
      attempt: attempt({ outcome: 'given_up', status: 400, error: 'answered 400' }),
      attempts: 3,
      since: new Date(begin),
      replayedAt: undefined,
      subscribers: ['analytics', 'billing'],
    };
    expect(notified).toEqual([['deadLetter', givenUp]]);
    expect(await outcomes()).toEqual({ given_up: 1 });
    expect(logged).toMatchObject([{ givenUp: true }]);
  });

  test('an event does not become a dead letter a moment before its age limit', async () => {
    time = begin + giveUpAfterMs - 1;
    await expect(deliver(failing(error))).rejects.toBe(error);
    expect(notified).toMatchObject([['record', event.id, { outcome: 'failed' }]]);
  });

  test('the age of an event counts from its subscriber’s latest resumption', async () => {
    time = begin + giveUpAfterMs + 5;
    const resumedAt = (name: string) => (name === 'billing' ? begin + 6 : 0);
    const suspension = { suspend: async () => undefined, resumedAt };
    await expect(deliver({ ...failing(error), suspension })).rejects.toBe(error);
    time += 1;
    await expect(deliver({ ...failing(error), suspension })).rejects.toBeInstanceOf(UnrecoverableError);
  });

  test('a dead letter is recorded for the replay that its job belongs to', async () => {
    time = begin + giveUpAfterMs;
    const id = `${event.id}.${replayedAt.getTime()}`;
    await expect(deliver(failing(error), undefined, { id })).rejects.toBeInstanceOf(UnrecoverableError);
    expect(notified).toMatchObject([['deadLetter', { replayedAt }]]);
  });

  test('an event is tried again if the dead letter could not be written', async () => {
    time = begin + giveUpAfterMs;
    const deadLetters = { add: () => Promise.reject(new Error('MongoDB is away')) };
    await expect(deliver({ ...failing(error), deadLetters })).rejects.toBe(error);
    expect(notified).toMatchObject([['record', event.id, { outcome: 'failed' }]]);
    expect(await outcomes()).toEqual({ failed: 1 });
    expect(logged[0]).toMatchObject({
      msg: 'the dead letter could not be written',
      subscriber: 'billing',
      event_id: event.id,
      err: { message: 'MongoDB is away' },
    });
  });
});
