import type { EventSubscriber, SubscriberDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';

/** Subscribers as all workers see them: their names, whether they are suspended, and when they were last resumed. */
export interface SubscriberStore {
  /** Returns all subscribers that were ever configured or suspended. */
  list(): Promise<SubscriberDocument[]>;
  /** Notes that exactly these subscribers are in the workers' configuration. */
  configure(subscribers: readonly EventSubscriber[], at: Date): Promise<void>;
  /** Suspends the subscriber's deliveries until {@link resume}. Returns true if they were not suspended before. */
  suspend(name: string, suspended: { readonly at: Date; readonly eventId: string }): Promise<boolean>;
  /** Resumes the subscriber's deliveries within about a second. Returns true if they were suspended. */
  resume(name: string, at: Date): Promise<boolean>;
  /** Lets the workers try the subscriber's waiting events within about a second. */
  retry(name: string, at: Date): Promise<void>;
}

export function createSubscriberStore({ subscribers }: Collections): SubscriberStore {
  return {
    list: () => subscribers.find().toArray(),
    async configure(configuration, at) {
      const configured = configuration.map((one) =>
        typeof one === 'string' ? { name: one, topics: '$$REMOVE' } : one,
      );
      const others = { _id: { $nin: configured.map(({ name }) => name) }, configured_at: { $exists: true } };
      const noted = { $ifNull: ['$configured_at', at] };
      await subscribers.bulkWrite([
        ...configured.map(({ name, topics }) => ({
          updateOne: { filter: { _id: name }, update: [{ $set: { configured_at: noted, topics } }], upsert: true },
        })),
        { updateMany: { filter: others, update: { $unset: { configured_at: true } } } },
      ]);
    },
    async suspend(name, { at, eventId }) {
      // The first mark stays, because two workers may get 410 at the same time.
      const suspended = [{ $set: { parked_at: { $ifNull: ['$parked_at', at] }, parked_by_event: byFirst(eventId) } }];
      const before = await subscribers.findOneAndUpdate({ _id: name }, suspended, { upsert: true });
      return before?.parked_at === undefined;
    },
    async resume(name, at) {
      const update = { $set: { resumed_at: at }, $unset: { parked_at: true, parked_by_event: true } } as const;
      const { modifiedCount } = await subscribers.updateOne({ _id: name, parked_at: { $exists: true } }, update);
      return modifiedCount === 1;
    },
    async retry(name, at) {
      await subscribers.updateOne({ _id: name }, { $set: { retried_at: at } });
    },
  };
}

function byFirst(eventId: string) {
  return { $ifNull: ['$parked_by_event', eventId] };
}
