import type { AccountEventOf } from '@auth-account/contracts/events';
import type { Collections } from '@auth-account/stores';
import type { OutboxDocument, UserDocument } from '@auth-account/stores/documents';

/** The stores' side of the comparison, read after the last change. */
export interface Facts {
  /** Users by id. */
  readonly users: ReadonlyMap<string, UserDocument>;
  /** All events. */
  readonly rows: readonly OutboxDocument[];
  /** The events of deletions, by user id. */
  readonly erased: ReadonlyMap<string, readonly Deleted[]>;
}

export type Deleted = AccountEventOf<'service.auth.events.deleted'>;

export async function readFacts({ users, outbox }: Pick<Collections, 'users' | 'outbox'>): Promise<Facts> {
  const rows = await outbox.find().toArray();
  const deleted = rows.flatMap(({ event }) => (event.type === 'service.auth.events.deleted' ? [event] : []));
  return {
    users: new Map((await users.find().toArray()).map((user) => [user._id, user])),
    rows,
    erased: Map.groupBy(deleted, ({ subject }) => subject),
  };
}

/** Returns true if the row is an event for no subscriber, about an email address without an account, or a taken one. */
export function isForNobody({ state, deliveries, discarded }: OutboxDocument): boolean {
  return state === 'delivered' && Object.keys({ ...deliveries, ...discarded }).length === 0;
}
