import type { Collections } from './collections.ts';
import type { SubscriberDocument } from './documents.ts';

/** Subscribers as all workers see them: their names, whose deliveries are held up, and since when they go on. */
export interface SubscriberStore {
  /** Those that were ever configured or parked. */
  list(): Promise<SubscriberDocument[]>;
  /** Notes that these are in the workers' configuration, and no others. */
  configure(names: readonly string[], at: Date): Promise<void>;
  /** Holds its deliveries up until {@link resume}. Returns whether they were not held up before. */
  park(name: string, parked: { readonly at: Date; readonly eventId: string }): Promise<boolean>;
  /** Has its deliveries go on, within a second or so. Returns whether they were held up. */
  resume(name: string, at: Date): Promise<boolean>;
}

export function createSubscriberStore({ subscribers }: Collections): SubscriberStore {
  return {
    list: () => subscribers.find().toArray(),
    async configure(names, at) {
      const noted = [{ $set: { configured_at: { $ifNull: ['$configured_at', at] } } }];
      const others = { _id: { $nin: [...names] }, configured_at: { $exists: true } };
      await subscribers.bulkWrite([
        ...names.map((name) => ({ updateOne: { filter: { _id: name }, update: noted, upsert: true } })),
        { updateMany: { filter: others, update: { $unset: { configured_at: true } } } },
      ]);
    },
    async park(name, { at, eventId }) {
      // Who parked it stays: two workers may be told 410 at once.
      const parked = [{ $set: { parked_at: { $ifNull: ['$parked_at', at] }, parked_by_event: byFirst(eventId) } }];
      const before = await subscribers.findOneAndUpdate({ _id: name }, parked, { upsert: true });
      return before?.parked_at === undefined;
    },
    async resume(name, at) {
      const update = { $set: { resumed_at: at }, $unset: { parked_at: true, parked_by_event: true } } as const;
      const { modifiedCount } = await subscribers.updateOne({ _id: name, parked_at: { $exists: true } }, update);
      return modifiedCount === 1;
    },
  };
}

function byFirst(eventId: string) {
  return { $ifNull: ['$parked_by_event', eventId] };
}
