import { eventChannels } from '@auth-account/contracts/events';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { Stores } from '@auth-account/stores';
import type { EventSubscriber } from '@auth-account/stores/documents';
import type { Logger } from '@auth-account/telemetry';
import type { WorkerConfig } from '../config.ts';
import { createAttemptRecorder } from '../delivery/attempt-recorder.ts';
import { createBringForward } from '../delivery/bring-forward.ts';
import { createDeadLetterFailedJob, type DeadLetterFailedJob } from '../delivery/dead-letter-failed-job.ts';
import type { AttemptDeps } from '../delivery/deliver-event.ts';
import { type Consumer, createJobConsumer, createOutcomeConsumer } from '../delivery/event-consumers.ts';
import { createFanOut } from '../delivery/fan-out.ts';
import { createQueueCapacity, type QueueCapacity } from '../delivery/queue-capacity.ts';
import { createRecovery, type Recovery, repeatsOfRecovery } from '../delivery/recovery.ts';
import { openSubscriberQueues, type SubscriberQueue, subscribersOf } from '../delivery/subscriber-queues.ts';
import { createSuspension, type Suspension } from '../delivery/suspension.ts';
import type { WebhookConsumer } from '../delivery/webhook-consumer.ts';
import type { RenderMail } from '../mail/mail-templates.ts';
import { createReadMail, type ReadMailDeps } from '../mail/read-mail.ts';
import { createSealSecret } from '../mail/seal-secret.ts';
import type { ErrorLog } from '../runtime/error-log.ts';
import type { WorkerMetrics } from '../runtime/metrics.ts';

type Subscriber = WorkerConfig['EVENT_SUBSCRIBERS'][number];

/** Everything that mails need besides the stores and a mail server. */
export interface MailParts extends Pick<ReadMailDeps, 'emailCodes' | 'emailChangeTokens' | 'removalStopTokens'> {
  readonly renderMail: RenderMail;
}

export interface DeliveryDeps {
  readonly config: WorkerConfig;
  /** Connection that fails at once while Redis is away. */
  readonly adding: RedisClient;
  /** Connection that waits for Redis. */
  readonly consuming: RedisClient;
  readonly keys: RedisKeys;
  readonly stores: Stores;
  readonly mail: MailParts;
  readonly metrics: WorkerMetrics;
  readonly logger: Logger;
  readonly onError: ErrorLog;
  readonly now: () => Date;
}

export interface Delivery {
  readonly subscribers: readonly EventSubscriber[];
  readonly queues: readonly SubscriberQueue[];
  readonly capacity: QueueCapacity;
  readonly consumers: readonly Consumer[];
  readonly deadLetterFailedJob: DeadLetterFailedJob;
  readonly suspension: Suspension;
}

/**
 * Number of events of a channel's queue that are handled at once. Each costs little more than a few commands to Redis.
 */
const fanOutConcurrency = 50;

/**
 * Wires the path of an event from its channel's queue to its subscribers. Each subscriber has a queue of its own per
 * channel. This process consumes the queues of webhooks and of mail subscribers. A subscriber of the kind `queue`
 * consumes its own queues. The clients for mail and for HTTP are loaded only if a subscriber needs them.
 */
export async function createDelivery(deps: DeliveryDeps): Promise<Delivery> {
  const { config, consuming, keys, stores, mail, metrics, logger, onError, now } = deps;
  const { outbox, deadLetters } = stores;
  const subscribers = subscribersOf(config.EVENT_SUBSCRIBERS);
  const queues = openSubscriberQueues(config.EVENT_SUBSCRIBERS, deps);
  const capacity = createQueueCapacity({ queues, redis: deps.adding, now });
  const record = createAttemptRecorder({ outbox, subscribers, onError });
  const deadLetterFailedJob = createDeadLetterFailedJob({ deadLetters, subscribers });
  const webhooks = new Map<string, WebhookConsumer>();
  const recoveries = new Map(
    config.EVENT_SUBSCRIBERS.map((one) => [one.name, createRecoveryOf(one, queues, deps)] as const),
  );
  const suspension = createSuspension({
    store: stores.subscribers,
    webhooks: config.EVENT_SUBSCRIBERS.flatMap(({ name, kind }) => (kind === 'webhook' ? [name] : [])),
    onState(name, isSuspended) {
      metrics.parked.set({ subscriber: name }, isSuspended ? 1 : 0);
      webhooks.get(name)?.setSuspended(isSuspended);
    },
    onRetry: (name, orderedAt) => recoveries.get(name)?.retry(orderedAt, now().getTime() - orderedAt),
    now,
  });
  const attempts: AttemptDeps = {
    ...{ subscribers, record, deadLetters, suspension, metrics, logger, now },
    giveUpAfterMs: config.DELIVERY_GIVE_UP_SECONDS * 1_000,
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
    connectTimeoutMs: config.DELIVERY_CONNECT_TIMEOUT_MS,
    concurrency: config.DELIVERY_CONCURRENCY,
  };
  const readMail = createReadMail({ ...stores, ...mail, now });

  const optionsOf = (queueName: string) => ({ queueName, connection: consuming, keys, onError });
  const consumersOf = async (subscriber: Subscriber): Promise<Consumer[]> => {
    const { name } = subscriber;
    const recovery = recoveries.get(name) ?? createRecoveryOf(subscriber, queues, deps);
    const own = queues.filter((one) => one.subscriber === name).map(({ queue }) => queue);
    const options = own.map((queue) => optionsOf(queue.name));
    if (subscriber.kind === 'smtp') {
      const { renderMail } = mail;
      const { createMailConsumer } = await import('../mail/mail-consumer.ts');
      const parts = { ...attempts, readMail, renderMail, recovery };
      return options.map((one) => createMailConsumer(one, subscriber, parts));
    }
    if (subscriber.kind === 'webhook') {
      const { encrypt_to } = subscriber;
      const { createWebhookConsumer } = await import('../delivery/webhook-consumer.ts');
      const sealSecret = encrypt_to && createSealSecret(readMail, encrypt_to);
      const consumer = createWebhookConsumer(options, subscriber, { ...attempts, sealSecret, recovery });
      webhooks.set(name, consumer);
      return [consumer];
    }
    return own.map((queue) =>
      createOutcomeConsumer(optionsOf(queue.name), {
        onCompleted(jobId) {
          recovery.onTaken();
          return record(jobId, { subscriber: name, at: now(), outcome: 'delivered' });
        },
        onFailed: (jobId) => deadLetterFailedJob(name, queue, jobId),
      }),
    );
  };
  const fanOut = createFanOut({ queues, capacity, outbox, now });
  const fanOuts = eventChannels.map((channel) =>
    createJobConsumer(optionsOf(channel), fanOut, { concurrency: fanOutConcurrency }),
  );
  const delivering = await Promise.all(config.EVENT_SUBSCRIBERS.map(consumersOf));
  const consumers = [...fanOuts, ...delivering.flat()];
  return { subscribers, queues, capacity, consumers, deadLetterFailedJob, suspension };
}

/** Wires the recovery of a subscriber. A queue's jobs are brought forward once only, because their attempts are limited. */
function createRecoveryOf(
  { name, kind }: Subscriber,
  queues: readonly SubscriberQueue[],
  { metrics, logger, onError }: DeliveryDeps,
): Recovery {
  const own = queues.filter(({ subscriber }) => subscriber === name).map(({ queue }) => queue);
  return createRecovery({
    bringForward: createBringForward({ queues: own, hostNow: Date.now }),
    repeatAfterMs: kind === 'queue' ? [] : repeatsOfRecovery,
    onBroughtForward(events) {
      metrics.broughtForward.inc({ subscriber: name }, events);
      logger.info({ subscriber: name, events }, 'waiting events brought forward');
    },
    onError: (error) => onError(error, { subscriber: name }),
    hostNow: Date.now,
  });
}
