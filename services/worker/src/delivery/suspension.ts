import type { SubscriberStore } from '@auth-account/stores';

export interface SuspensionDeps {
  readonly store: SubscriberStore;
  /** Called with every webhook's state whenever the state has been read, and when a webhook is suspended here. */
  readonly onState: (subscriber: string, isSuspended: boolean) => void;
  /** Called with the time, in ms, of an operator's latest order to try a subscriber's events, after each read. */
  readonly onRetry: (subscriber: string, orderedAt: number) => void;
  readonly webhooks: readonly string[];
  readonly now: () => Date;
}

/** The webhooks that answered 410 Gone, so that all workers hold their deliveries. */
export interface Suspension {
  /**
   * Reads the state from MongoDB, because another worker may have suspended a webhook, or an operator may have resumed
   * one.
   */
  refresh(): Promise<void>;
  /**
   * Holds a webhook's deliveries in all workers, in this worker at once. Rejects if the other workers cannot be
   * informed.
   */
  suspend(subscriber: string, eventId: string): Promise<void>;
  /** Time at which an operator last resumed the subscriber's deliveries, in ms; 0 if never. */
  resumedAt(subscriber: string): number;
}

/** Suspends webhooks. Until the first {@link Suspension.refresh} no state is known. */
export function createSuspension({ store, onState, onRetry, webhooks, now }: SuspensionDeps): Suspension {
  let resumed = new Map<string, number>();
  return {
    async refresh() {
      const known = await store.list();
      resumed = new Map(known.map(({ _id, resumed_at }) => [_id, resumed_at?.getTime() ?? 0]));
      const suspended = new Set(known.flatMap(({ _id, parked_at }) => (parked_at ? [_id] : [])));
      for (const webhook of webhooks) onState(webhook, suspended.has(webhook));
      for (const { _id, resumed_at, retried_at } of known) {
        const orderedAt = Math.max(resumed_at?.getTime() ?? 0, retried_at?.getTime() ?? 0);
        if (orderedAt > 0) onRetry(_id, orderedAt);
      }
    },
    async suspend(subscriber, eventId) {
      onState(subscriber, true);
      await store.suspend(subscriber, { at: now(), eventId });
    },
    resumedAt: (subscriber) => resumed.get(subscriber) ?? 0,
  };
}
