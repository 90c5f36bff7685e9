import { eventChannels } from '@auth-account/contracts/events';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { DeadLetterStore, EventTaker, OutboxStore, SubscriberStore } from '@auth-account/stores';
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
import { openSubscriberQueues, type SubscriberQueue } from './subscriber-queues.ts';
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
  readonly takers: readonly EventTaker[];
  readonly queues: readonly SubscriberQueue[];
  readonly room: QueueRoom;
  readonly consumers: readonly Consumer[];
  readonly buryFailedJob: BuryFailedJob;
  readonly parking: Parking;
}

/** Events taken from a channel's queue at once: each costs little more than a few commands to Redis. */
const fanOutConcurrency = 50;

/**
 * Wires the way of an event from its channel's queue to its subscribers. Each has a queue of its own per channel: a
 * worker here delivers a webhook's, and a subscriber of the kind `queue` consumes its own.
 */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { config, consuming, keys, outbox, deadLetters, metrics, logger, onError, now } = deps;
  const takers = config.EVENT_SUBSCRIBERS.map(({ name }) => name);
  const queues = openSubscriberQueues(config.EVENT_SUBSCRIBERS, deps);
  const room = createQueueRoom({ queues, redis: deps.adding, now });
  const record = createAttemptRecorder({ outbox, subscribers: takers, onError });
  const buryFailedJob = createBuryFailedJob({ deadLetters, subscribers: takers });
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
  const consumersOf = (subscriber: Subscriber): Consumer[] => {
    const { name } = subscriber;
    const own = queues.filter((one) => one.subscriber === name).map(({ queue }) => queue);
    if (subscriber.kind === 'queue') {
      return own.map((queue) =>
        createOutcomeConsumer(optionsOf(queue.name), {
          onCompleted: (jobId) => record(jobId, { subscriber: name, at: now(), outcome: 'delivered' }),
          onFailed: (jobId) => buryFailedJob(name, queue, jobId),
        }),
      );
    }
    const options = own.map((queue) => optionsOf(queue.name));
    const consumer = createWebhookConsumer(options, subscriber, {
      subscribers: takers,
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
    return [consumer];
  };
  const fanOut = createFanOut({ queues, room, outbox, now });
  const fanOuts = eventChannels.map((channel) =>
    createJobConsumer(optionsOf(channel), fanOut, { concurrency: fanOutConcurrency }),
  );
  const consumers = [...fanOuts, ...config.EVENT_SUBSCRIBERS.flatMap(consumersOf)];
  return { takers, queues, room, consumers, buryFailedJob, parking };
}
