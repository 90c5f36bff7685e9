import { registeredTopic } from '@auth-account/contracts';
import {
  consumedJobOptions,
  type EventQueue,
  eventJobOptions,
  openEventQueue,
  type RedisKeys,
  subscriberQueueName,
} from '@auth-account/messaging';
import type { OutboxStore } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import type { Redis } from 'ioredis';
import type { WorkerConfig } from '../config.ts';
import type { ErrorLog } from '../error-log.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createDeliverEvent } from './deliver-event.ts';
import { type Consumer, createCompletionConsumer, createJobConsumer } from './event-consumers.ts';
import { createFanOut } from './fan-out.ts';
import { createMarkDelivered } from './mark-delivered.ts';
import { createWebhookSender } from './webhook.ts';

type Subscriber = WorkerConfig['EVENT_SUBSCRIBERS'][number];

export interface DeliveryDeps {
  readonly config: Pick<
    WorkerConfig,
    'EVENT_SUBSCRIBERS' | 'DELIVERY_TIMEOUT_MS' | 'DELIVERY_CONCURRENCY' | 'DELIVERY_GIVE_UP_SECONDS'
  >;
  /** Fails at once where Redis is away. */
  readonly adding: Redis;
  /** Waits for Redis. */
  readonly consuming: Redis;
  readonly keys: RedisKeys;
  readonly outbox: OutboxStore;
  readonly metrics: WorkerMetrics;
  readonly logger: Logger;
  readonly onError: ErrorLog;
  readonly now: () => Date;
}

export interface Delivery {
  /** Subscriber → its queue. */
  readonly queues: ReadonlyMap<string, EventQueue>;
  readonly consumers: readonly Consumer[];
}

/** Events taken from the topic's queue at once: little more than commands to Redis. */
const fanOutConcurrency = 50;

/**
 * Wires the way of an event from the topic's queue to its subscribers: each has a queue of its own, which a webhook's
 * worker empties here, and the subscriber itself elsewhere.
 */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { config, adding, consuming, keys, outbox, metrics, logger, onError, now } = deps;
  const topic = registeredTopic;
  const subscribers = config.EVENT_SUBSCRIBERS;
  const names = subscribers.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Error('EVENT_SUBSCRIBERS: two subscribers have the same name');
  const mark = createMarkDelivered({ outbox, subscribers: names, onError, now });

  const openQueue = ({ name, kind }: Subscriber): [string, EventQueue] => {
    const options = kind === 'queue' ? consumedJobOptions : eventJobOptions;
    const queue = openEventQueue(subscriberQueueName(topic, name), adding, keys, options);
    queue.on('error', (error) => onError(error, { queue: queue.name }));
    return [name, queue];
  };
  const queues = new Map(subscribers.map(openQueue));

  const consumerOf = (subscriber: Subscriber): Consumer => {
    const { name } = subscriber;
    const options = { queueName: subscriberQueueName(topic, name), connection: consuming, keys, onError };
    if (subscriber.kind === 'queue') return createCompletionConsumer(options, name, mark);
    const deliver = createDeliverEvent({
      subscriber: name,
      send: createWebhookSender({ subscriber, timeoutMs: config.DELIVERY_TIMEOUT_MS, now }),
      mark,
      noteError: outbox.noteError,
      giveUpAfterMs: config.DELIVERY_GIVE_UP_SECONDS * 1_000,
      metrics,
      logger,
      now,
    });
    return createJobConsumer(options, deliver, config.DELIVERY_CONCURRENCY);
  };
  const fanOut = createJobConsumer(
    { queueName: topic, connection: consuming, keys, onError },
    createFanOut({ queues, outbox, now }),
    fanOutConcurrency,
  );
  return { queues, consumers: [fanOut, ...subscribers.map(consumerOf)] };
}
