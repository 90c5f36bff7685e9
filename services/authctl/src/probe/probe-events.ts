import { setTimeout as delay } from 'node:timers/promises';
import type { Mongo } from '@auth-account/operations';
import type { Collections } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import type { ClientSession, Filter } from 'mongodb';
import { isProbeRequestId } from './probe-accounts.ts';

interface SettledEvent {
  readonly id: string;
  /** Account that the event is about. */
  readonly subject: string;
}

/** Limit for the rows that one run reads. The next run reads more. */
const batch = 100;
const lookIntervalMs = 50;

/** Finds events of probes that no subscriber waits for any more. */
export async function findEvents(
  { outbox }: Collections,
  filter: Filter<OutboxDocument>,
  session?: ClientSession,
): Promise<SettledEvent[]> {
  const settled = { ...filter, 'event.requestid': isProbeRequestId, state: { $ne: 'pending' as const } };
  const options = { projection: { 'event.subject': 1 }, ...(session === undefined ? {} : { session }) };
  const rows = await outbox.find(settled, options).limit(batch).toArray();
  return rows.map(({ _id, event }) => ({ id: _id, subject: event.subject }));
}

/** Removes rows of the outbox, and their dead letters. */
export async function deleteEvents(
  { outbox, deadLetters }: Collections,
  ids: readonly string[],
  session: ClientSession,
): Promise<void> {
  await outbox.deleteMany({ _id: { $in: [...ids] }, state: { $ne: 'pending' } }, { session });
  await deadLetters.deleteMany({ event_id: { $in: [...ids] } }, { session });
}

/**
 * Removes probes' events that were created before that time, whose accounts are gone, and that no subscriber waits for.
 * An event whose account exists stays, whatever its request id, because callers choose request ids freely. Returns the
 * number of removed events.
 */
export async function removeOldEvents({ collections, transaction }: Mongo, before: Date): Promise<number> {
  const events = await findEvents(collections, { created_at: { $lt: before } });
  const subjects = events.map(({ subject }) => subject);
  const there = new Set(await collections.users.distinct('_id', { _id: { $in: subjects } }));
  const ids = events.filter(({ subject }) => !there.has(subject)).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const isCommitted = async () => (await collections.outbox.countDocuments({ _id: { $in: ids } })) === 0;
  await transaction((session) => deleteEvents(collections, ids, session), { isCommitted });
  return ids.length;
}

/**
 * Waits until every subscriber has the request's event, up to the limit, and returns true if they all have it. Reads
 * what a majority has, because the transaction that removes the event reads that and leaves a pending one alone.
 */
export async function awaitDelivery(
  { outbox }: Collections,
  requestId: string,
  { waitMs, stop }: { readonly waitMs: number; readonly stop: AbortSignal },
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  const waiting = { 'event.requestid': requestId, state: 'pending' } as const;
  const options = { limit: 1, readConcern: { level: 'majority' } } as const;
  for (;;) {
    if ((await outbox.countDocuments(waiting, options)) === 0) return true;
    if (stop.aborted || performance.now() >= deadline) return false;
    await delay(lookIntervalMs);
  }
}
