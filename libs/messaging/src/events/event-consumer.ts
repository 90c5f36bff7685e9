import type { AuthEvent } from '@auth-account/contracts/events';
import { CloudEventEnvelope } from '@auth-account/contracts/events/cloud-event';
import type * as Type from '@auth-account/contracts/type';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { compileCheck } from '../faults-of.ts';
import { isExpired } from './delivery-rules.ts';
import { eventIdOf, reliableWorkerOptions, subscriberQueueName } from './queues.ts';

/** Identifies an event at a subscriber. Each subscriber applies an event only once. */
export interface InboxEntry {
  readonly subscriber: string;
  /** The CloudEvent's `id`. */
  readonly eventId: string;
}

/** Makes an effect happen exactly once, however often the event is delivered. */
export interface Inbox<Session> {
  /**
   * Runs `effect` and stores the entry, both or neither, even if the process crashes. If the entry exists already,
   * returns `duplicate` and does not run `effect`. Only writes through `session` are covered, and `effect` may run more
   * than once before it is committed.
   *
   * Throws what `effect` throws, or the store's error. In both cases the entry is not stored.
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
  /**
   * Aborted if the handler still runs `patienceMs` after the consumer began to close. If the handler then throws, the
   * event is delivered again.
   */
  readonly signal: AbortSignal;
}

/** The outcome of a delivery. It contains only ids of the event. */
export interface ConsumerReport {
  /**
   * `failed`: the event will be retried. `given_up`: this was the last attempt. `malformed`: the event is never
   * retried. `ignored`: the event's type is not among the consumer's schemas. `expired`: the event asks for a mail with
   * a code that has expired.
   */
  readonly outcome: 'processed' | 'duplicate' | 'failed' | 'given_up' | 'malformed' | 'ignored' | 'expired';
  readonly channel: string;
  readonly subscriber: string;
  /** Undefined if the job has no id. */
  readonly eventId: string | undefined;
  /** Undefined if the event is malformed. */
  readonly requestId: string | undefined;
  readonly attempt: number;
  readonly error?: unknown;
}

interface ConsumerOptions<Event, Session> {
  /** Connection opened with `workerOptions()`, so that it waits for Redis. The caller closes it after the consumer. */
  readonly connection: RedisClient;
  /** `redisKeys(KEY_PREFIX)` of the authentication service. */
  readonly keys: Pick<RedisKeys, 'queuePrefix'>;
  /** Channel, the first part of the queue's name: `registeredChannel` or `accountChannel`. */
  readonly channel: string;
  /** Name of this consumer in EVENT_SUBSCRIBERS, with `"kind":"queue"`. */
  readonly subscriber: string;
  readonly inbox: Inbox<Session>;
  /** The effect. If it throws, its writes are undone and the event is delivered again after a pause. */
  readonly handle: (event: Event, context: HandlerContext<Session>) => Promise<void>;
  /** For logs and metrics; called after each attempt. */
  readonly onReport: (report: ConsumerReport) => void;
  /** Called if Redis is unreachable or the queue fails for another reason. The consumer recovers by itself. */
  readonly onError: (error: Error) => void;
  /** Number of events that this process handles at the same time; default 10. */
  readonly concurrency?: number;
}

export interface EventConsumerOptions<Schema extends Type.TSchema, Session>
  extends ConsumerOptions<Type.Static<Schema>, Session> {
  /** Schema of the channel's only topic, from `@auth-account/contracts`. */
  readonly schema: Schema;
}

/** Schemas of the events that a consumer handles, by their types. */
export type EventSchemas = Readonly<Record<string, Type.TSchema>>;

export interface ChannelConsumerOptions<Schemas extends EventSchemas, Session>
  extends ConsumerOptions<Type.Static<Schemas[keyof Schemas]>, Session> {
  /**
   * Schemas of the channel's events that this consumer handles, from `@auth-account/contracts/events`. Events of other
   * types are acknowledged without effect.
   */
  readonly schemas: Schemas;
}

export interface EventConsumer {
  /**
   * Stops accepting events, and resolves when the running handlers have ended. Aborts their signals after `patienceMs`
   * (default 10,000).
   */
  close(patienceMs?: number): Promise<void>;
}

const defaultConcurrency = 10;
const defaultPatienceMs = 10_000;

/** Pause before the worker runs again after Redis was unreachable, in milliseconds. BullMQ's default is 15 s. */
const runRetryDelay = 500;

/**
 * Consumes the events of a channel, as a subscriber of the kind `queue`, until the consumer is closed. Processes of one
 * subscriber share its events. Events are delivered at least once, and not in order. The inbox makes the effect happen
 * only once.
 *
 * A malformed event fails for good at once. An event whose handler keeps throwing fails for good after its last
 * attempt. An operator can replay both. If a process dies, no event is lost, because another process takes over within
 * eight seconds.
 *
 * @example
 * createEventConsumer({
 *   channel: accountChannel,
 *   schemas: { 'service.auth.events.deleted': DeletedEvent },
 *   handle: async (event, { session }) => forget(event.data.user_id, session),
 *   …
 * });
 */
export function createEventConsumer<Schema extends Type.TSchema, Session>(
  options: EventConsumerOptions<Schema, Session>,
): EventConsumer;
export function createEventConsumer<Schemas extends EventSchemas, Session>(
  options: ChannelConsumerOptions<Schemas, Session>,
): EventConsumer;
export function createEventConsumer<Session>(
  options: EventConsumerOptions<Type.TSchema, Session> | ChannelConsumerOptions<EventSchemas, Session>,
): EventConsumer {
  const { connection, keys, channel, subscriber, concurrency = defaultConcurrency, onError } = options;
  const parse =
    'schemas' in options ? createChannelParser(options.schemas) : createTopicParser(channel, options.schema);
  const processJob = createProcessor<Session>(options as ConsumerOptions<unknown, Session>, parse);
  const worker = new Worker<unknown, void>(subscriberQueueName(channel, subscriber), processJob, {
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

function createProcessor<Session>(options: ConsumerOptions<unknown, Session>, parse: ParseEvent) {
  const { channel, subscriber, inbox, handle, onReport } = options;

  // BullMQ passes the signal only to a function with three parameters.
  return async (job: Job<unknown, void>, _token: string | undefined, stop: AbortSignal | undefined): Promise<void> => {
    const attempt = job.attemptsMade + 1;
    const eventIdOfJob = job.id === undefined ? undefined : eventIdOf(job.id);
    const about = { channel, subscriber, eventId: eventIdOfJob, requestId: undefined, attempt };
    const { event, isHandled } = parse(job.data, (error) => onReport({ ...about, outcome: 'malformed', error }));
    const { id: eventId, requestid: requestId, traceparent } = event;
    const known = { ...about, eventId, requestId };
    if (!isHandled) return onReport({ ...known, outcome: 'ignored' });
    if (isExpired(event as AuthEvent, new Date())) return onReport({ ...known, outcome: 'expired' });
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
 * Reads a job's data. Fails the job for good if the data are not an event, or do not fit the schema of the event's
 * type. The error names the path of the fault, never the content.
 */
type ParseEvent = (
  data: unknown,
  onMalformed: (error: Error) => void,
) => { readonly event: CloudEventEnvelope; readonly isHandled: boolean };

/** Parses a channel that is named after its only topic. An event of another type is malformed. */
function createTopicParser(topic: string, schema: Type.TSchema): ParseEvent {
  const check = compileCheck(schema);
  return createParser((event) => {
    const problem = check(event);
    if (problem !== undefined) return { problem };
    return event.type === topic ? {} : { problem: '/type is of another topic' };
  });
}

/** Parses a channel with several topics. Events whose type has no schema here are not handled. */
function createChannelParser(schemas: EventSchemas): ParseEvent {
  const checks = new Map(Object.entries(schemas).map(([type, schema]) => [type, compileCheck(schema)]));
  return createParser((event) => {
    const check = checks.get(event.type);
    if (check === undefined) return { isHandled: false };
    const problem = check(event);
    return problem === undefined ? {} : { problem };
  });
}

function createParser(
  check: (event: CloudEventEnvelope) => { readonly problem?: string; readonly isHandled?: boolean },
): ParseEvent {
  const checkEnvelope = compileCheck(CloudEventEnvelope);
  return (data, onMalformed) => {
    const fault = checkEnvelope(data);
    const { problem, isHandled = true } = fault === undefined ? check(data as CloudEventEnvelope) : { problem: fault };
    if (problem === undefined) return { event: data as CloudEventEnvelope, isHandled };
    const error = new UnrecoverableError(`the event is malformed: ${problem}`);
    onMalformed(error);
    throw error;
  };
}
