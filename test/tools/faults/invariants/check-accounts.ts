import type { AuthEvent } from '@auth-account/contracts/events';
import { emailKey } from '@auth-account/stores';
import { isDue } from '../load/credentials.ts';
import type { AccountRecord, ChangeKind, Deletion } from '../load/ledger.ts';
import type { Evidence } from './evidence.ts';

/** Compares changes and deletions of accounts with the answers to the apps. */
export async function checkAccounts(evidence: Evidence): Promise<void> {
  checkChanges(evidence);
  checkDeletions(evidence);
  checkGoodbyes(evidence);
  await checkTraces(evidence);
}

/** Reasons of a change of the password that are changes of the load's users. */
const reasons = ['changed', 'reset', 'undone'] as const;

function kindOf(event: AuthEvent): ChangeKind | undefined {
  switch (event.type) {
    case 'service.auth.events.password_changed':
      return reasons.find((reason) => reason === event.data.reason);
    case 'service.auth.events.email_changed':
      return event.data.is_undone ? 'email_undone' : 'email_changed';
    case 'service.auth.events.deletion_scheduled':
      return 'deletion_scheduled';
    case 'service.auth.events.deletion_cancelled':
      return 'deletion_cancelled';
    default:
      return;
  }
}

/** Checks that every acknowledged change has its event, and every event a requested change. */
function checkChanges({ ledger, history, rows }: Evidence): void {
  const changing = rows.filter(({ event }) => kindOf(event) !== undefined);
  const events = Map.groupBy(changing, ({ event }) => `${event.subject} ${kindOf(event)}`);
  for (const { userId, changes } of ledger.accounts.values()) {
    for (const [kind, ofKind] of Map.groupBy(changes, (change) => change.kind)) {
      const count = events.get(`${userId} ${kind}`)?.length ?? 0;
      events.delete(`${userId} ${kind}`);
      const min = ofKind.filter(({ outcome }) => outcome === 'done').length;
      const max = ofKind.filter(({ outcome }) => outcome !== 'none').length;
      const detail = { userId, kind, count, min, max };
      if (count < min) history.violate('an acknowledged change has no event', detail);
      if (count > max) history.violate('a change has more events than it was made', detail);
    }
  }
  for (const name of events.keys()) history.violate('an account was changed that nobody has changed', { name });
}

/** Checks that each account exists, is to be deleted, or is erased, as its app knows. */
function checkDeletions({ ledger, history, users, erased }: Evidence): void {
  for (const { userId, person } of ledger.accounts.values()) {
    const { deletion } = person;
    const deletesAt = users.get(userId)?.deletes_at?.getTime();
    const state = { isThere: users.has(userId), isErased: erased.has(userId), deletesAt };
    const fault = state.isThere && state.isErased ? 'an account is gone and there' : findFault(deletion, state);
    if (fault !== undefined) history.violate(fault, { userId, deletion, ...state });
  }
}

/** The state of an account in the stores. */
interface StoredState {
  readonly isThere: boolean;
  readonly isErased: boolean;
  readonly deletesAt: number | undefined;
}

function findFault(expected: Deletion | undefined, { isThere, isErased, deletesAt }: StoredState): string | undefined {
  if (expected === undefined) {
    if (isErased) return 'an account was erased that nobody has deleted';
    return deletesAt === undefined ? undefined : 'an account is about to go that nobody has deleted';
  }
  if (expected.deletesAt === undefined) return isDue({ deletesAt }) ? 'an account was not erased in time' : undefined;
  if (isDue(expected)) return isThere ? 'an acknowledged deletion has left the account' : undefined;
  if (isErased) return 'an account was erased before its time';
  return deletesAt === expected.deletesAt ? undefined : 'a deletion is not scheduled as it was announced';
}

/** Checks that an erased user has one event of the deletion, and that each subscriber received it, however often. */
function checkGoodbyes({ history, erased, subscribers }: Evidence): void {
  for (const [userId, events] of erased) {
    if (events.length !== 1) history.violate('an account was erased several times', { userId, events: events.length });
  }
  for (const { name, events } of subscribers) {
    const goodbyes = [...events.values()].filter(({ type }) => type === 'service.auth.events.deleted');
    const announced = Map.groupBy(goodbyes, ({ subject }) => subject);
    for (const userId of new Set([...erased.keys(), ...announced.keys()])) {
      const count = announced.get(userId)?.length ?? 0;
      const detail = { subscriber: name, userId, count };
      if (!erased.has(userId)) history.violate('a subscriber was notified of a false erasure', detail);
      else if (count !== 1) history.violate('a subscriber has not one goodbye', detail);
    }
  }
}

/** Checks that nothing is left of an erased user, and that the user's email addresses are free. */
async function checkTraces({ ledger, history, collections, erased }: Evidence): Promise<void> {
  const ids = [...erased.keys()];
  const keys = ids.flatMap((id) => addressesOf(ledger.accounts.get(id))).map(emailKey);
  const { users, sessions, challenges, idempotency, invites, groups } = collections;
  const user_id = { $in: ids };
  const left = {
    users: await users.countDocuments({ _id: user_id }),
    sessions: await sessions.countDocuments({ user_id }),
    challenges: await challenges.countDocuments({ user_id }),
    idempotency: await idempotency.countDocuments({ user_id }),
    invites: await invites.countDocuments({ created_by: user_id }),
    owned: await groups.countDocuments({ owner_id: user_id, closed_at: null }),
    addresses: await users.countDocuments({ email_key: { $in: keys } }),
    former: await users.countDocuments({ 'former_emails.email_key': { $in: keys } }),
  };
  for (const [where, count] of Object.entries(left)) {
    if (count > 0) history.violate('an erased account has left traces', { where, count });
  }
}

function addressesOf(account: AccountRecord | undefined): string[] {
  return [...(account?.person.holds ?? []), ...(account?.former ?? [])].map(({ email }) => email);
}
