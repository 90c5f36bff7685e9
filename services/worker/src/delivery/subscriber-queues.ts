import {
  accountChannel,
  channelOf,
  type EventChannel,
  eventChannels,
  mailTopics,
} from '@auth-account/contracts/events';
import {
  consumedJobOptions,
  type EventQueue,
  eventJobOptions,
  openEventQueue,
  subscriberQueueName,
} from '@auth-account/messaging';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { EventSubscriber } from '@auth-account/stores/documents';
import type { WorkerConfig } from '../config.ts';
import type { ErrorLog } from '../runtime/error-log.ts';

type Subscriber = WorkerConfig['EVENT_SUBSCRIBERS'][number];

/** A subscriber's queue for one channel. */
export interface SubscriberQueue {
  readonly subscriber: string;
  readonly channel: EventChannel;
  /** Topics that the subscriber takes; all topics of the channel if missing. */
  readonly topics?: readonly string[];
  readonly queue: EventQueue;
}

export interface SubscriberQueuesDeps {
  /** Connection that fails at once while Redis is away. */
  readonly adding: RedisClient;
  readonly keys: RedisKeys;
  readonly onError: ErrorLog;
}

/** Returns the subscribers, each with its topics if it takes only some. */
export function subscribersOf(subscribers: readonly Subscriber[]): EventSubscriber[] {
  return subscribers.map(({ name, kind }) => (kind === 'smtp' ? { name, topics: mailTopics } : name));
}

/**
 * Opens each subscriber's queues, one for each channel. A mail subscriber has only the queue of account events. The
 * queues that a subscriber consumes itself have other job options.
 */
export function openSubscriberQueues(
  subscribers: readonly Subscriber[],
  { adding, keys, onError }: SubscriberQueuesDeps,
): SubscriberQueue[] {
  return subscribers.flatMap(({ name, kind }) => {
    const options = kind === 'queue' ? consumedJobOptions : eventJobOptions;
    const isMail = kind === 'smtp';
    const channels: readonly EventChannel[] = isMail ? [accountChannel] : eventChannels;
    return channels.map((channel) => {
      const queue = openEventQueue(subscriberQueueName(channel, name), adding, keys, options);
      queue.on('error', (error) => onError(error, { queue: queue.name }));
      return { subscriber: name, channel, queue, ...(isMail ? { topics: mailTopics } : {}) };
    });
  });
}

/** Returns true if an event of the topic belongs on the queue. */
export function takes({ channel, topics }: Pick<SubscriberQueue, 'channel' | 'topics'>, topic: string): boolean {
  return channelOf(topic) === channel && (topics?.includes(topic) ?? true);
}
