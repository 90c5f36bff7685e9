import { createSubscription, type RedisClient, type Subscription } from '@auth-account/redis';
import type { Logger } from '@auth-account/telemetry';
import { createDeliverMessages, type DeliverMessagesDeps } from './deliver-messages.ts';

export interface MessageSubscriptionDeps extends DeliverMessagesDeps {
  /** A connection that does nothing else. */
  readonly redis: RedisClient;
  readonly channel: string;
  readonly logger: Logger;
}

/** Takes in what other services publish to apps. Hints: what is published while the connection is away is lost. */
export function createMessageSubscription(deps: MessageSubscriptionDeps): Subscription {
  const { redis, channel, logger } = deps;
  const deliver = createDeliverMessages(deps);
  return createSubscription({
    redis,
    channels: [channel],
    onMessage: (_channel, text) => deliver(text),
    onSubscribed: () => logger.info('subscribed to messages'),
    onError: (error) => logger.warn({ err: error }, 'not subscribed to messages'),
  });
}
