import type { OutboxStore } from '@auth-account/stores';
import type { ErrorLog } from '../error-log.ts';

/** Notes that the subscriber has the event. Never rejects. */
export type MarkDelivered = (subscriber: string, eventId: string) => Promise<void>;

export interface MarkDeliveredDeps {
  readonly outbox: Pick<OutboxStore, 'markDelivered'>;
  readonly subscribers: readonly string[];
  readonly onError: ErrorLog;
  readonly now: () => Date;
}

/**
 * Makes the function that marks a delivery in the outbox. Where MongoDB is away the event is not delivered
 * again for that: its job completes, and the relay, which looks at completed jobs, marks the row later.
 */
export function createMarkDelivered({ outbox, subscribers, onError, now }: MarkDeliveredDeps): MarkDelivered {
  return async (subscriber, eventId) => {
    try {
      await outbox.markDelivered(eventId, { by: [subscriber], at: now(), subscribers });
    } catch (error) {
      onError(error, { subscriber, event_id: eventId });
    }
  };
}
