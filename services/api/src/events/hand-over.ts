import type { RegisteredEvent } from '@auth-account/contracts';
import { addEvent, type EventQueue } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';

export interface HandOverDeps {
  /** On a connection that fails at once where Redis is away: a queue that waits for it would pile up. */
  readonly queue: EventQueue;
  readonly logger: Logger;
  /** One was left to the relay. */
  readonly onLeft: () => void;
}

/** Begins the hand-over of committed events. */
export interface HandOver {
  /** Begins and returns; what fails stays in the outbox for the worker's relay. */
  begin(event: RegisteredEvent): void;
  /** Resolves when everything begun has ended. */
  idle(): Promise<void>;
}

/** Makes the hand-over of events to BullMQ that follows the commit: a shortcut, nothing depends on it. */
export function createHandOver({ queue, logger, onLeft }: HandOverDeps): HandOver {
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
