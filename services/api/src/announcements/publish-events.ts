import type { RegisteredEvent } from '@auth-account/contracts';
import { addEvent, type EventQueue } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';

export interface EventPublisherDeps {
  /** On a connection that fails at once if Redis is away: a queue that waits for it would pile up. */
  readonly queue: EventQueue;
  readonly logger: Logger;
  /** One was left to the relay. */
  readonly onLeft: () => void;
}

/** Begins the publish of committed events. */
export interface EventPublisher {
  /** Begins and returns; what fails stays in the outbox for the worker's relay. */
  begin(event: RegisteredEvent): void;
  /** Resolves when everything begun has ended. */
  idle(): Promise<void>;
}

/** Creates the publisher of events to BullMQ, which follows the commit: a shortcut, on which nothing depends. */
export function createEventPublisher({ queue, logger, onLeft }: EventPublisherDeps): EventPublisher {
  const pending = new Set<Promise<void>>();
  return {
    begin(event) {
      const attempt = addEvent(queue, event)
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
