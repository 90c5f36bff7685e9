import { registeredTopic } from '@auth-account/contracts';
import {
  consumedJobOptions,
  type EventQueue,
  eventJobOptions,
  openEventQueue,
  subscriberQueueName,
} from '@auth-account/messaging';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { DeadLetterStore, OutboxStore, SubscriberStore } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import type { WorkerConfig } from '../config.ts';
import type { ErrorLog } from '../jobs/error-log.ts';
import type { WorkerMetrics } from '../jobs/metrics.ts';
import { createAttemptRecorder } from './attempt-recorder.ts';
import { type BuryFailedJob, createBuryFailedJob } from './bury-failed-job.ts';
import { type Consumer, createJobConsumer, createOutcomeConsumer } from './event-consumers.ts';
import { createFanOut } from './fan-out.ts';
import { createParking, type Parking } from './parking.ts';
import { createQueueRoom, type QueueRoom } from './queue-room.ts';
import { createWebhookConsumer, type WebhookConsumer } from './webhook-consumer.ts';

type Subscriber = WorkerConfig['EVENT_SUBSCRIBERS'][number];

export interface DeliveryDeps {
  readonly config: WorkerConfig;
  /** Fails at once while Redis is away. */
  readonly adding: RedisClient;
  /** Waits for Redis. */
  readonly consuming: RedisClient;
  readonly keys: RedisKeys;
  readonly outbox: OutboxStore;
  readonly deadLetters: DeadLetterStore;
  readonly subscribers: SubscriberStore;
  readonly metrics: WorkerMetrics;
  readonly logger: Logger;
  readonly onError: ErrorLog;
  readonly now: () => Date;
}

export interface Delivery {
  /** Subscriber → its queue. */
  readonly queues: ReadonlyMap<string, EventQueue>;
  readonly room: QueueRoom;
  readonly consumers: readonly Consumer[];
  readonly buryFailedJob: BuryFailedJob;
  readonly parking: Parking;
}

/** Events taken from the topic's queue at once: each costs little more than a few commands to Redis. */
const fanOutConcurrency = 50;

const topic = registeredTopic;

function openQueues({ config, adding, keys, onError }: DeliveryDeps): Map<string, EventQueue> {
  const openQueue = ({ name, kind }: Subscriber): [string, EventQueue] => {
    const options = kind === 'queue' ? consumedJobOptions : eventJobOptions;
    const queue = openEventQueue(subscriberQueueName(topic, name), adding, keys, options);
    queue.on('error', (error) => onError(error, { queue: queue.name }));
    return [name, queue];
  };
  return new Map(config.EVENT_SUBSCRIBERS.map(openQueue));
}

/**
 * Wires the way of an event from the topic's queue to its subscribers. Each has its own queue: a worker here delivers a
 * webhook's, and a subscriber of the kind `queue` consumes its own.
 */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { config, consuming, keys, outbox, deadLetters, metrics, logger, onError, now } = deps;
  const subscribers = config.EVENT_SUBSCRIBERS.map(({ name }) => name);
  const queues = openQueues(deps);
  const room = createQueueRoom({ queues, redis: deps.adding, now });
  const record = createAttemptRecorder({ outbox, subscribers, onError });
  const buryFailedJob = createBuryFailedJob({ deadLetters, subscribers });
  const webhooks = new Map<string, WebhookConsumer>();
  const parking = createParking({
    store: deps.subscribers,
    webhooks: config.EVENT_SUBSCRIBERS.flatMap(({ name, kind }) => (kind === 'webhook' ? [name] : [])),
    onState(name, isParked) {
      metrics.parked.set({ subscriber: name }, isParked ? 1 : 0);
      webhooks.get(name)?.setParked(isParked);
    },
    now,
  });

  const optionsOf = (queueName: string) => ({ queueName, connection: consuming, keys, onError });
  const consumerOf = (subscriber: Subscriber, queue: EventQueue): Consumer => {
    const { name } = subscriber;
    if (subscriber.kind === 'queue') {
      return createOutcomeConsumer(optionsOf(queue.name), {
        onCompleted: (jobId) => record(jobId, { subscriber: name, at: now(), outcome: 'delivered' }),
        onFailed: (jobId) => buryFailedJob(name, queue, jobId),
      });
    }
    const consumer = createWebhookConsumer(optionsOf(queue.name), subscriber, {
      subscribers,
      record,
      deadLetters,
      parking,
      giveUpAfterMs: config.DELIVERY_GIVE_UP_SECONDS * 1_000,
      timeoutMs: config.DELIVERY_TIMEOUT_MS,
      connectTimeoutMs: config.DELIVERY_CONNECT_TIMEOUT_MS,
      concurrency: config.DELIVERY_CONCURRENCY,
      metrics,
      logger,
      now,
    });
    webhooks.set(name, consumer);
    return consumer;
  };
  const fanOut = createJobConsumer(optionsOf(topic), createFanOut({ queues, room, outbox, now }), {
    concurrency: fanOutConcurrency,
  });
  const consumers = config.EVENT_SUBSCRIBERS.flatMap((subscriber) => {
    const queue = queues.get(subscriber.name);
    return queue === undefined ? [] : [consumerOf(subscriber, queue)];
  });
  return { queues, room, consumers: [fanOut, ...consumers], buryFailedJob, parking };
}
