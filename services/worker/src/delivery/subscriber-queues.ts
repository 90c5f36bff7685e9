import { channelOf, type EventChannel, eventChannels } from '@auth-account/contracts/events';
import {
  consumedJobOptions,
  type EventQueue,
  eventJobOptions,
  openEventQueue,
  subscriberQueueName,
} from '@auth-account/messaging';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { WorkerConfig } from '../config.ts';
import type { ErrorLog } from '../jobs/error-log.ts';

type Subscriber = WorkerConfig['EVENT_SUBSCRIBERS'][number];

/** A subscriber's queue of a channel. */
export interface SubscriberQueue {
  readonly subscriber: string;
  readonly channel: EventChannel;
  readonly queue: EventQueue;
}

export interface SubscriberQueuesDeps {
  /** Fails at once while Redis is away. */
  readonly adding: RedisClient;
  readonly keys: RedisKeys;
  readonly onError: ErrorLog;
}

/** Opens each subscriber's queues, one of each channel. A subscriber that consumes its own has other job options. */
export function openSubscriberQueues(
  subscribers: readonly Subscriber[],
  { adding, keys, onError }: SubscriberQueuesDeps,
): SubscriberQueue[] {
  return subscribers.flatMap(({ name, kind }) => {
    const options = kind === 'queue' ? consumedJobOptions : eventJobOptions;
    return eventChannels.map((channel) => {
      const queue = openEventQueue(subscriberQueueName(channel, name), adding, keys, options);
      queue.on('error', (error) => onError(error, { queue: queue.name }));
      return { subscriber: name, channel, queue };
    });
  });
}

/** Returns true if an event of the topic goes on the queue. */
export function takes({ channel }: Pick<SubscriberQueue, 'channel'>, topic: string): boolean {
  return channelOf(topic) === channel;
}
