import type { RegisteredEvent } from '@auth-account/contracts';
import { addEvent, type EventQueue } from '@auth-account/messaging';
import type { OutboxStore } from '@auth-account/stores';
import type { Job } from 'bullmq';

export interface FanOutDeps {
  /** Subscriber → its queue. */
  readonly queues: ReadonlyMap<string, EventQueue>;
  readonly outbox: Pick<OutboxStore, 'markDelivered'>;
  readonly now: () => Date;
}

/**
 * Makes the processor of the topic's queue: it puts the event on the queue of every subscriber, so that one that is down
 * delays no other. With no subscriber the event counts as delivered.
 */
export function createFanOut({ queues, outbox, now }: FanOutDeps) {
  return async ({ data: event }: Pick<Job<RegisteredEvent>, 'data'>): Promise<void> => {
    if (queues.size === 0) await outbox.markDelivered(event.id, { by: [], at: now(), subscribers: [] });
    await Promise.all(Array.from(queues.values(), (queue) => addEvent(queue, event)));
  };
}
