import { requestIdPattern } from '@auth-account/contracts';
import { emailAsMeant, emailKey } from '@auth-account/stores';
import type { Mongo } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import type { TraceContext } from '../trace/trace-request.ts';
import { viewRequest } from './trace-views.ts';

/** The thing that a text names. */
export type Found =
  | { readonly kind: 'account' | 'group' | 'request' | 'event'; readonly id: string }
  | { readonly kind: 'session'; readonly id: string; readonly userId: string };

const uuid = /^[\da-f]{8}-[\da-f]{4}-([47])[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const id = { projection: { _id: 1 } } as const;

/**
 * Finds what exactly this text names: the email address of an account, or the id of an account, session, group, event
 * or request. Never finds more than one thing. Throws an `OperationError` of the kind `unknown` if there is none, and
 * what `traceRequest` throws.
 */
export async function findByText(context: TraceContext & Pick<Mongo, 'now'>, text: string): Promise<Found> {
  const given = text.trim();
  if (given.includes('@')) return findByEmail(context, given);
  const lower = given.toLowerCase();
  const version = uuid.exec(lower)?.[1];
  const found = version === '7' ? await findById(context, lower) : version === '4' && (await findGroup(context, lower));
  if (found) return found;
  if (!requestIdPattern.test(given)) throw new OperationError('unknown', 'Nothing has that name.');
  // A trace reads much, and most requests that are looked for have caused an event.
  const [row] = await context.stores.outbox.findByRequest(given);
  if (row === undefined) await viewRequest(context, given);
  return { kind: 'request', id: given };
}

async function findByEmail({ collections: { users } }: Pick<Mongo, 'collections'>, email: string): Promise<Found> {
  const user = await users.findOne({ email_key: emailKey(emailAsMeant(email)) }, id);
  // The message goes where an email address may not.
  if (user === null) throw new OperationError('unknown', 'There is no account with that email address.');
  return { kind: 'account', id: user._id };
}

async function findGroup({ collections }: Pick<Mongo, 'collections'>, _id: string): Promise<Found | undefined> {
  return (await collections.groups.findOne({ _id }, id)) === null ? undefined : { kind: 'group', id: _id };
}

async function findById({ collections }: Pick<Mongo, 'collections'>, _id: string): Promise<Found | undefined> {
  const { users, sessions, outbox, deadLetters } = collections;
  const [user, session, row, letter] = await Promise.all([
    users.findOne({ _id }, id),
    sessions.findOne({ _id }, { projection: { user_id: 1 } }),
    outbox.findOne({ _id }, id),
    deadLetters.findOne({ event_id: _id }, id),
  ]);
  if (user !== null) return { kind: 'account', id: _id };
  if (session !== null) return { kind: 'session', id: _id, userId: session.user_id };
  return row === null && letter === null ? undefined : { kind: 'event', id: _id };
}
