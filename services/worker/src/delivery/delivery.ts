import type { SmtpSubscriber } from '@auth-account/config';
import { type AuthEvent, eventChannels } from '@auth-account/contracts/events';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { DeadLetterStore, OutboxStore, SubscriberStore } from '@auth-account/stores';
import type { EventTaker } from '@auth-account/stores/documents';
import type { Logger } from '@auth-account/telemetry';
import type { EncryptionKey, WebhookSubscriber, WorkerConfig } from '../config.ts';
import type { ErrorLog } from '../runtime/error-log.ts';
import type { WorkerMetrics } from '../runtime/metrics.ts';
import { createAttemptRecorder } from './attempt-recorder.ts';
import { type BuryFailedJob, createBuryFailedJob } from './bury-failed-job.ts';
import type { DeliverEventDeps } from './deliver-event.ts';
import { type Consumer, type ConsumerOptions, createJobConsumer, createOutcomeConsumer } from './event-consumers.ts';
import { createFanOut } from './fan-out.ts';
import { createParking, type Parking } from './parking.ts';
import { createQueueRoom, type QueueRoom } from './queue-room.ts';
import { openSubscriberQueues, type SubscriberQueue, takersOf } from './subscriber-queues.ts';
import { createWebhookConsumer, type WebhookConsumer, type WebhookConsumerDeps } from './webhook-consumer.ts';

type Subscriber = WorkerConfig['EVENT_SUBSCRIBERS'][number];

/** Everything that attempts to deliver have in common. */
export interface AttemptDeps extends Omit<DeliverEventDeps, 'subscriber' | 'send' | 'onThrottled' | 'onExpired'> {
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly concurrency: number;
  readonly metrics: WorkerMetrics;
}

/** The parts that know addresses and codes. */
export interface MailPort {
  /** Creates the consumer of a mail subscriber's queue. */
  openConsumer(options: ConsumerOptions, smtp: SmtpSubscriber, deps: AttemptDeps): Consumer;
  /** Creates the function that encrypts the secret of an event to the key; it returns undefined if there is none. */
  openSealer(key: EncryptionKey): (event: AuthEvent) => Promise<string | undefined>;
}

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
  readonly mail: MailPort;
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
 * worker here delivers a webhook's and sends the mails, and a subscriber of the kind `queue` consumes its own.
 */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { config, consuming, keys, outbox, deadLetters, metrics, logger, onError, now } = deps;
  const takers = takersOf(config.EVENT_SUBSCRIBERS);
  const queues = openSubscriberQueues(config.EVENT_SUBSCRIBERS, deps);
  const room = createQueueRoom({ queues, redis: deps.adding, now });
  const record = createAttemptRecorder({ outbox, takers, onError });
  const buryFailedJob = createBuryFailedJob({ deadLetters, takers });
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
  const attempts: AttemptDeps = {
    ...{ takers, record, deadLetters, parking, metrics, logger, now },
    giveUpAfterMs: config.DELIVERY_GIVE_UP_SECONDS * 1_000,
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
    connectTimeoutMs: config.DELIVERY_CONNECT_TIMEOUT_MS,
    concurrency: config.DELIVERY_CONCURRENCY,
  };

  const optionsOf = (queueName: string) => ({ queueName, connection: consuming, keys, onError });
  const consumersOf = (subscriber: Subscriber): Consumer[] => {
    const { name } = subscriber;
    const own = queues.filter((one) => one.subscriber === name).map(({ queue }) => queue);
    const options = own.map((queue) => optionsOf(queue.name));
    if (subscriber.kind === 'smtp') return options.map((one) => deps.mail.openConsumer(one, subscriber, attempts));
    if (subscriber.kind === 'webhook') {
      const consumer = createWebhookConsumer(options, subscriber, { ...attempts, ...sealerFor(subscriber, deps.mail) });
      webhooks.set(name, consumer);
      return [consumer];
    }
    return own.map((queue) =>
      createOutcomeConsumer(optionsOf(queue.name), {
        onCompleted: (jobId) => record(jobId, { subscriber: name, at: now(), outcome: 'delivered' }),
        onFailed: (jobId) => buryFailedJob(name, queue, jobId),
      }),
    );
  };
  const fanOut = createFanOut({ queues, room, outbox, now });
  const fanOuts = eventChannels.map((channel) =>
    createJobConsumer(optionsOf(channel), fanOut, { concurrency: fanOutConcurrency }),
  );
  const consumers = [...fanOuts, ...config.EVENT_SUBSCRIBERS.flatMap(consumersOf)];
  return { takers, queues, room, consumers, buryFailedJob, parking };
}

function sealerFor({ encrypt_to }: WebhookSubscriber, mail: MailPort): Pick<WebhookConsumerDeps, 'sealSecret'> {
  return encrypt_to === undefined ? {} : { sealSecret: mail.openSealer(encrypt_to) };
}
