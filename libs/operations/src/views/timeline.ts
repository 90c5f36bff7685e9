import type { OutboxDocument, UserDocument } from '@auth-account/stores/documents';
import { firstIdOf } from '@auth-account/stores/documents';
import type { Mongo } from '../context.ts';
import { loadAccountById } from './account-view.ts';
import { readRevoked, readUnrevoked, type SeenSession } from './ended-sessions.ts';
import { shortTopic } from './messages.ts';
import { newestPage, type Page, timeOf } from './pages.ts';

type Facts = Readonly<Record<string, string | number | boolean>>;

/** A stored fact about an account, and the request that caused it, if that is stored too. */
interface StoredStep {
  readonly at: Date;
  readonly what: string;
  readonly facts: Facts;
  readonly requestId: string | null;
  /** Time that its request has written, if that is another one. */
  readonly causedAt?: Date;
}

export interface Entry {
  /** Time of its newest step. */
  readonly at: Date;
  readonly request_id: string | null;
  /** Oldest first. */
  readonly steps: readonly Pick<StoredStep, 'at' | 'what' | 'facts'>[];
}

/** Sessions and events that are read for a part of the timeline. */
const readAtOnce = 60;

/**
 * Returns what happened to an account, newest first: its sessions, its events and the times in its document. Steps of
 * the same request are one entry. Throws an `OperationError`: `unknown` if there is no such account, `invalid` for a
 * wrong cursor.
 */
export async function viewTimeline(
  context: Pick<Mongo, 'collections' | 'now'>,
  userId: string,
  after?: string,
): Promise<Page<Entry>> {
  const before = timeOf(after);
  const user = await loadAccountById(context, userId);
  const [unrevoked, revoked, spanning, events] = await Promise.all([
    readUnrevoked(context, user._id),
    readRevoked(context, user._id, before, readAtOnce),
    before === undefined ? [] : readSpanning(context, user._id, before),
    readEvents(context, user._id, before),
  ]);
  // Beyond that time sessions or events may be missing, which come with the next part.
  const completeSince = new Date(Math.max(revoked.completeSince.getTime(), events.completeSince.getTime()));
  const now = context.now();
  const steps = [
    ...[...unrevoked, ...revoked.sessions, ...spanning].flatMap((session) => stepsOfSession(session, now)),
    ...events.rows.map(stepOfEvent),
    ...stepsOfUser(user, now),
  ].filter(({ at }) => at >= completeSince && (before === undefined || at < before));
  return newestPage(joinByRequest(steps), revoked.hasMore || events.hasMore);
}

/** Reads the sessions that were live at that time and have ended since. The limit of live sessions bounds them. */
function readSpanning({ collections }: Pick<Mongo, 'collections'>, userId: string, at: Date): Promise<SeenSession[]> {
  const spanning = { user_id: userId, is_revoked: true, revoked_at: { $gte: at }, created_at: { $lt: at } };
  const projection = { created_at: 1, created_request_id: 1, device_id: 1, device_name: 1, platform: 1, revoked_at: 1 };
  return collections.sessions.find<SeenSession>(spanning, { projection }).toArray();
}

/** Reads events, and all that were made in the same millisecond as the last of them, because a cursor is a time. */
async function readEvents({ collections }: Pick<Mongo, 'collections'>, userId: string, before: Date | undefined) {
  const find = (ids: object) => collections.outbox.find({ 'event.subject': userId, ...ids }).sort({ _id: -1 });
  const rows = await find(before === undefined ? {} : { _id: { $lt: firstIdOf(before) } })
    .limit(readAtOnce)
    .toArray();
  const last = rows[readAtOnce - 1];
  if (last === undefined) return { rows, hasMore: false, completeSince: new Date(0) };
  const completeSince = timeOfEvent(last);
  const next = new Date(completeSince.getTime() + 1);
  const together = await find({ _id: { $gte: firstIdOf(completeSince), $lt: firstIdOf(next) } }).toArray();
  return { rows: [...rows.filter(({ _id }) => _id >= firstIdOf(next)), ...together], hasMore: true, completeSince };
}

/** Returns the time in an event's id, by which events are read. Its request may have begun some milliseconds before. */
function timeOfEvent({ _id }: Pick<OutboxDocument, '_id'>): Date {
  return new Date(Number.parseInt(_id.slice(0, 13).replace('-', ''), 16));
}

function stepsOfSession(session: SeenSession, now: Date): StoredStep[] {
  const { _id, device_name, platform, created_at, expires_at, revoked_at, revoked_reason } = session;
  const facts = { session_id: _id, ...(device_name && { device_name }), ...(platform && { platform }) };
  const created = { at: created_at, what: 'session_created', facts, requestId: session.created_request_id ?? null };
  if (revoked_at !== undefined) {
    const ended = { ...facts, reason: revoked_reason ?? 'forced' };
    const requestId = session.revoked_request_id ?? null;
    return [created, { at: revoked_at, what: 'session_ended', facts: ended, requestId }];
  }
  if (expires_at > now) return [created];
  return [created, { at: expires_at, what: 'session_ended', facts: { ...facts, reason: 'expired' }, requestId: null }];
}

/** Facts of events that say what happened. None of them is personal data or a secret. */
const told = ['purpose', 'reason', 'change', 'provider', 'is_undone', 'is_new_group', 'account_type'] as const;

function stepOfEvent(row: OutboxDocument): StoredStep {
  const { _id, topic, event, created_at } = row;
  const data: Readonly<Record<string, unknown>> = event.data;
  const facts = told.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]]));
  const what = shortTopic(topic);
  const origin = { requestId: event.requestid, causedAt: created_at };
  return { at: timeOfEvent(row), what, facts: { event_id: _id, ...Object.fromEntries(facts) }, ...origin };
}

/** Returns the dated facts of the account's document. Times that lie ahead are no history. */
function stepsOfUser(user: UserDocument, now: Date): StoredStep[] {
  const { totp, pending_email_until: _, ...dated } = user;
  const of = (at: Date | undefined, what: string, facts: Facts = {}) =>
    at === undefined || at > now ? [] : [{ at, what, facts, requestId: null }];
  return [
    ...of(dated.created_at, 'account_created'),
    ...of(dated.joined_at, 'group_joined', { group_id: dated.home_group_id }),
    ...of(dated.email_verified_at, 'email_verified_last'),
    ...of(dated.password_changed_at, 'password_changed_last'),
    ...of(dated.recovered_at, 'recovered_last'),
    ...of(dated.ways_changed_at, 'methods_changed_last'),
    ...of(totp?.confirmed_at, 'second_factor_added'),
    ...of(totp?.removal?.ordered_at, 'second_factor_removal_ordered', { by: totp?.removal?.by ?? 'mail' }),
    ...(dated.passkeys ?? []).flatMap(({ id, created_at }) => of(created_at, 'passkey_added', { passkey_id: id })),
    ...(dated.identities ?? []).flatMap(({ provider, created_at, disabled_at, relay_off_at }) => [
      ...of(created_at, 'identity_linked', { provider }),
      ...of(disabled_at, 'identity_disabled', { provider }),
      ...of(relay_off_at, 'relay_off', { provider }),
    ]),
    ...of(dated.disabled_at, 'account_disabled', dated.disabled_by === undefined ? {} : { by: dated.disabled_by }),
  ];
}

/** Milliseconds after which a request has ended: an app that sends each with the same id has many of them. */
const maxRequestMs = 60_000;

/** Joins the steps of each request. A step without a request belongs to the one of exactly its time, if there is one. */
function joinByRequest(stored: readonly StoredStep[]): Entry[] {
  const requestAt = new Map(
    stored.flatMap(({ at, causedAt = at, requestId }) => (requestId === null ? [] : [[causedAt.getTime(), requestId]])),
  );
  const entries: { at: Date; request_id: string | null; steps: StoredStep[] }[] = [];
  const latest = new Map<string | number, (typeof entries)[number]>();
  for (const step of stored.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
    const request_id = step.requestId ?? requestAt.get(step.at.getTime()) ?? null;
    const key = request_id ?? step.at.getTime();
    let entry = latest.get(key);
    if (entry === undefined || step.at.getTime() - entry.at.getTime() > maxRequestMs) {
      entry = { at: step.at, request_id, steps: [] };
      entries.push(entry);
      latest.set(key, entry);
    }
    entry.at = step.at;
    entry.steps.push(step);
  }
  return entries.map((entry) => ({ ...entry, steps: entry.steps.map(({ at, what, facts }) => ({ at, what, facts })) }));
}
