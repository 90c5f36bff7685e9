import { type AuthEvent, channelOf, type EventChannel } from '@auth-account/contracts/events';
import { addEvent, type EventQueue } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';

export interface EventPublisherDeps {
  /**
   * The queues' connection must fail at once while Redis is away. Otherwise events would wait for Redis and pile up.
   */
  readonly queues: Readonly<Record<EventChannel, EventQueue>>;
  readonly logger: Logger;
  /** Called for each event that could not be published, so that only the relay will enqueue it. */
  readonly onLeft: () => void;
}

/** Publishes committed events to the queues of their channels. */
export interface EventPublisher {
  /** Starts to publish the event and returns at once. If that fails, the event stays in the outbox for the relay. */
  publish(event: AuthEvent): void;
  /** Resolves when each event under way is published or has failed to be. */
  idle(): Promise<void>;
}

/**
 * Publishes events. Publishing may fail, because the relay enqueues each event that is still in the outbox a few
 * seconds after its commit.
 */
export function createEventPublisher({ queues, logger, onLeft }: EventPublisherDeps): EventPublisher {
  const pending = new Set<Promise<void>>();
  return {
    publish(event) {
      const attempt = addEvent(queues[channelOf(event.type)], event)
        .catch((error: unknown) => {
          onLeft();
          logger.warn({ err: error, event_id: event.id, request_id: event.requestid }, 'event left to the relay');
        })
        .finally(() => pending.delete(attempt));
      pending.add(attempt);
    },
    async idle() {
      await Promise.all(pending);
    },
  };
}
