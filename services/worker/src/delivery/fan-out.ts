import type { AuthEvent } from '@auth-account/contracts/events';
import { addEvent, type EventQueue } from '@auth-account/messaging';
import type { OutboxStore } from '@auth-account/stores';
import type { Job } from 'bullmq';
import type { QueueRoom } from './queue-room.ts';

export interface FanOutDeps {
  /** Subscriber → its queue. */
  readonly queues: ReadonlyMap<string, EventQueue>;
  readonly room: Pick<QueueRoom, 'recent'>;
  readonly outbox: Pick<OutboxStore, 'markDelivered'>;
  readonly now: () => Date;
}

/**
 * Creates the processor of the topic's queue: it adds the event to the queue of every subscriber, so that one that is
 * down delays no other. It skips a full queue: the row waits, and the relay enqueues it once there is room. Without
 * subscribers the event counts as delivered.
 */
export function createFanOut({ queues, room, outbox, now }: FanOutDeps) {
  return async ({ data: event }: Pick<Job<AuthEvent>, 'data'>): Promise<void> => {
    if (queues.size === 0) await outbox.markDelivered([{ eventId: event.id, by: [], at: now() }], []);
    const opened = await room.recent();
    await Promise.all(Array.from(queues).map(([name, queue]) => opened.has(name) && addEvent(queue, event)));
  };
}
