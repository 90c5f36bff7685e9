import type { Stores } from '@auth-account/stores';
import type { DeadLetterDocument, OutboxDocument } from '@auth-account/stores/documents';

/** Selection of events for a command. */
export interface EventSelection {
  readonly state?: OutboxDocument['state'] | undefined;
  readonly subscriber?: string | undefined;
  /** Id of the user whom the events concern. */
  readonly user?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

const pageSize = 500;

/**
 * Yields outbox rows, oldest first. With a subscriber, yields only rows that the subscriber has received, for which a
 * delivery to it was tried, or of which it has a dead letter.
 */
export async function* selectRows({ outbox }: Stores, selection: EventSelection): AsyncGenerator<OutboxDocument> {
  const { subscriber, user, ...bounds } = withoutUndefined(selection);
  let after: string | undefined;
  for (;;) {
    const page = await outbox.list({ ...bounds, limit: pageSize, ...(after === undefined ? {} : { after }) });
    const ofUser = page.filter(({ event }) => user === undefined || event.subject === user);
    yield* ofUser.filter((row) => subscriber === undefined || concerns(row, subscriber));
    after = page.at(-1)?._id;
    if (page.length < pageSize) return;
  }
}

/** Yields dead letters, oldest first, by the time at which they were given up. */
export async function* selectDeadLetters(
  { deadLetters }: Stores,
  selection: Omit<EventSelection, 'state'>,
): AsyncGenerator<DeadLetterDocument> {
  const { user, ...bounds } = withoutUndefined(selection);
  let after: DeadLetterDocument | undefined;
  for (;;) {
    const page = await deadLetters.list({ ...bounds, limit: pageSize, ...(after ? { after } : {}) });
    yield* page.filter(({ event }) => user === undefined || event.subject === user);
    after = page.at(-1);
    if (page.length < pageSize) return;
  }
}

/** Returns the first `limit` items. */
export async function take<T>(source: AsyncGenerator<T>, limit: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of source) {
    taken.push(item);
    if (taken.length === limit) break;
  }
  return taken;
}

function concerns({ deliveries, dead, attempt_log }: OutboxDocument, subscriber: string): boolean {
  return (
    deliveries[subscriber] !== undefined ||
    dead?.[subscriber] !== undefined ||
    attempt_log?.some((attempt) => attempt.subscriber === subscriber) === true
  );
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes undefined members, because the stores' filters distinguish them from missing members. */
function withoutUndefined<T extends object>(selection: T): Defined<T> {
  return Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined)) as Defined<T>;
}
