import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { eventIdOf, reliableWorkerOptions, subscriberQueueName } from './queues.ts';

/** Fields that every event has (CloudEvents 1.0, with our extensions). */
const EventEnvelope = Type.Object({
  specversion: Type.Literal('1.0'),
  id: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
  requestid: Type.String({ minLength: 1 }),
  traceparent: Type.Optional(Type.String({ minLength: 1 })),
});
type EventEnvelope = Type.Static<typeof EventEnvelope>;

/** Identifies a delivery: an event has its effect once at each subscriber. */
export interface InboxEntry {
  readonly subscriber: string;
  /** The CloudEvent's `id`. */
  readonly eventId: string;
}

/** Makes an effect happen exactly once, however often its event is delivered. */
export interface Inbox<Session> {
  /**
   * Runs `effect` and remembers the entry, both or neither: a crash never leaves one without the other. Returns
   * `duplicate`, and does not run `effect`, if the entry is known. Only writes through `session` are covered, and
   * `effect` may run more than once before it is committed.
   *
   * Throws what `effect` throws, or the store's error; the entry is not remembered then.
   */
  once(entry: InboxEntry, effect: (session: Session) => Promise<void>): Promise<'processed' | 'duplicate'>;
}

/** Context of a delivery: a handler's second argument. */
export interface HandlerContext<Session> {
  /** MongoDB session. Every write of the effect must use it, or the effect may happen more than once. */
  readonly session: Session;
  /** X-Request-ID of the request that caused the event: for logs, and for calls that the handler makes. */
  readonly requestId: string;
  /** W3C trace context of that request, if it had one. */
  readonly traceparent: string | undefined;
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number;
  /** Aborted when the consumer closes and its patience is over: throw then, and the event is delivered again. */
  readonly signal: AbortSignal;
}

/** The outcome of a delivery. It has only the ids of the event. */
export interface ConsumerReport {
  /** `failed`: it will be retried. `given_up`: that was the last attempt. `malformed`: it is never retried. */
  readonly outcome: 'processed' | 'duplicate' | 'failed' | 'given_up' | 'malformed';
  readonly topic: string;
  readonly subscriber: string;
  /** Undefined if the job has none. */
  readonly eventId: string | undefined;
  /** Undefined if the event is malformed. */
  readonly requestId: string | undefined;
  readonly attempt: number;
  readonly error?: unknown;
}

export interface EventConsumerOptions<Schema extends Type.TSchema, Session> {
  /** Connection opened with `workerOptions()`, which waits for Redis. The caller closes it, after the consumer. */
  readonly connection: RedisClient;
  /** `redisKeys(KEY_PREFIX)` of the authentication service. */
  readonly keys: Pick<RedisKeys, 'queuePrefix'>;
  readonly topic: string;
  /** Schema of the topic, from `@auth-account/contracts`. */
  readonly schema: Schema;
  /** Name of this consumer in EVENT_SUBSCRIBERS, with `"kind":"queue"`. */
  readonly subscriber: string;
  readonly inbox: Inbox<Session>;
  /** The effect. If it throws, nothing of it remains, and it is retried after a pause. */
  readonly handle: (event: Type.Static<Schema>, context: HandlerContext<Session>) => Promise<void>;
  /** For logs and metrics; called after each attempt. */
  readonly onReport: (report: ConsumerReport) => void;
  /** Called if Redis is away or the queue fails for another reason. The consumer recovers by itself. */
  readonly onError: (error: Error) => void;
  /** Events that this process handles at once; default 10. */
  readonly concurrency?: number;
}

export interface EventConsumer {
  /**
   * Stops accepting events and resolves when the running handlers have ended. After `patienceMs` (default 10,000) their
   * signals are aborted.
   */
  close(patienceMs?: number): Promise<void>;
}

const defaultConcurrency = 10;
const defaultPatienceMs = 10_000;

/** Pause after Redis was away, in ms; BullMQ's default is 15 s. */
const runRetryDelay = 500;

/**
 * Consumes a topic as a subscriber of the kind `queue` until it is closed. Processes of one subscriber share its
 * events. Delivery is at least once, and not in the order of the events; the inbox makes the effect happen once.
 *
 * A malformed event fails for good at once; an event whose handler keeps throwing, after its last attempt. An operator
 * can replay both. A process that dies loses no event: another process takes over within eight seconds.
 */
export function createEventConsumer<Schema extends Type.TSchema, Session>(
  options: EventConsumerOptions<Schema, Session>,
): EventConsumer {
  const { connection, keys, topic, subscriber, concurrency = defaultConcurrency, onError } = options;
  const processJob = createProcessor(options);
  const worker = new Worker<unknown, void>(subscriberQueueName(topic, subscriber), processJob, {
    ...reliableWorkerOptions,
    connection,
    prefix: keys.queuePrefix,
    concurrency,
    autorun: false,
    runRetryDelay,
  });
  worker.on('error', onError);
  worker.run().catch(onError);
  return {
    async close(patienceMs = defaultPatienceMs) {
      const timer = setTimeout(() => worker.cancelAllJobs('the consumer closes'), patienceMs);
      try {
        await worker.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function createProcessor<Schema extends Type.TSchema, Session>(options: EventConsumerOptions<Schema, Session>) {
  const { topic, schema, subscriber, inbox, handle, onReport } = options;
  const parse = createParser(topic, schema);

  // BullMQ passes the signal only to a function of three parameters.
  return async (job: Job<unknown, void>, _token: string | undefined, stop: AbortSignal | undefined): Promise<void> => {
    const attempt = job.attemptsMade + 1;
    const eventIdOfJob = job.id === undefined ? undefined : eventIdOf(job.id);
    const about = { topic, subscriber, eventId: eventIdOfJob, requestId: undefined, attempt };
    const event = parse(job.data, (error) => onReport({ ...about, outcome: 'malformed', error }));
    const { id: eventId, requestid: requestId, traceparent } = event;
    const known = { ...about, eventId, requestId };
    const signal = stop ?? new AbortController().signal;
    try {
      const effect = (session: Session) => handle(event, { session, requestId, traceparent, attempt, signal });
      onReport({ ...known, outcome: await inbox.once({ subscriber, eventId }, effect) });
    } catch (error) {
      const isLast = error instanceof UnrecoverableError || attempt >= (job.opts.attempts ?? 1);
      onReport({ ...known, outcome: isLast ? 'given_up' : 'failed', error });
      throw error;
    }
  };
}

/**
 * Reads a job's data. Fails the job for good if the data are not an event of the topic. The error names the path of the
 * fault, never its content.
 */
function createParser<Schema extends Type.TSchema>(topic: string, schema: Schema) {
  const envelope = Compile(EventEnvelope);
  const validator = Compile(schema);

  function problemOf(data: unknown): string | undefined {
    const [error] = envelope.Check(data) ? validator.Errors(data) : envelope.Errors(data);
    if (error !== undefined) return `${error.instancePath || '/'} ${error.message}`;
    return (data as EventEnvelope).type === topic ? undefined : '/type is of another topic';
  }

  return (data: unknown, onMalformed: (error: Error) => void): EventEnvelope & Type.Static<Schema> => {
    const problem = problemOf(data);
    if (problem === undefined) return data as EventEnvelope & Type.Static<Schema>;
    const error = new UnrecoverableError(`the event is malformed: ${problem}`);
    onMalformed(error);
    throw error;
  };
}
