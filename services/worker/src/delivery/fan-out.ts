import type { AuthEvent } from '@auth-account/contracts/events';
import { addEvent } from '@auth-account/messaging';
import type { OutboxStore } from '@auth-account/stores';
import type { Job } from 'bullmq';
import { hasCapacity, type QueueCapacity } from './queue-capacity.ts';
import { type SubscriberQueue, takes } from './subscriber-queues.ts';

export interface FanOutDeps {
  readonly queues: readonly SubscriberQueue[];
  readonly capacity: Pick<QueueCapacity, 'recent'>;
  readonly outbox: Pick<OutboxStore, 'markDelivered'>;
  readonly now: () => Date;
}

/**
 * Processes the channels' queues. It adds the event to the queue of every subscriber that takes it, so that a
 * subscriber that is down delays no other subscriber. It skips a full queue. The event's row then waits in the outbox,
 * and the relay enqueues the event once there is capacity. If no subscriber takes the event, it counts as delivered.
 */
export function createFanOut({ queues, capacity, outbox, now }: FanOutDeps) {
  return async ({ data: event }: Pick<Job<AuthEvent>, 'data'>): Promise<void> => {
    const taking = queues.filter((queue) => takes(queue, event.type));
    if (taking.length === 0) await outbox.markDelivered([{ eventId: event.id, by: [], at: now() }], []);
    const opened = await capacity.recent();
    await Promise.all(taking.map(({ queue }) => hasCapacity(opened, queue.name, event.type) && addEvent(queue, event)));
  };
}
