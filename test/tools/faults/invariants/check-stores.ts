import { registeredTopic } from '@auth-account/contracts';
import type { Collections } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import type { History } from '../load/history.ts';
import type { Ledger } from '../load/ledger.ts';

interface Evidence {
  readonly ledger: Ledger;
  readonly history: History;
  readonly collections: Collections;
  readonly users: ReadonlyMap<string, UserDocument>;
}

/** Compares MongoDB with the apps' answers, after the last app has its answer. Returns the users by id. */
export async function checkStores(
  ledger: Ledger,
  history: History,
  collections: Collections,
): Promise<ReadonlyMap<string, UserDocument>> {
  const users = new Map((await collections.users.find().toArray()).map((user) => [user._id, user]));
  const evidence = { ledger, history, collections, users };
  checkRegistrations(evidence);
  await checkGroups(evidence);
  await checkInvites(evidence);
  await checkSessions(evidence);
  await checkOutbox(evidence);
  await checkKeptAnswers(evidence);
  return users;
}

/** Every 201 has a user, every refused registration has none, and there are no other users. */
function checkRegistrations({ ledger, history, users }: Evidence): void {
  const byEmail = new Map([...users.values()].map((user) => [user.email, user]));
  if (byEmail.size !== users.size) {
    history.violate('an address has several users', { addresses: byEmail.size, users: users.size });
  }
  for (const { email, outcome, userId, person } of ledger.registrations.values()) {
    const user = byEmail.get(email);
    byEmail.delete(email);
    if (outcome === 'acknowledged' && user?._id !== userId) history.violate('a 201 has no user', { email, userId });
    if (outcome === 'refused' && user !== undefined) history.violate('a refused registration has a user', { email });
    if (user !== undefined && person.groupId !== undefined && user.home_group_id !== person.groupId) {
      const { home_group_id } = user;
      history.violate('a user is in another group than told', { email, told: person.groupId, home_group_id });
    }
  }
  for (const email of byEmail.keys()) history.violate('a user whom nobody registered', { email });
}

/** Every user is in an open group that counts them; every open group has one owner; there are no partial documents. */
async function checkGroups({ history, collections, users }: Evidence): Promise<void> {
  const members = Map.groupBy(users.values(), ({ home_group_id }) => home_group_id);
  for await (const group of collections.groups.find()) {
    const own = members.get(group._id) ?? [];
    members.delete(group._id);
    const owners = own.filter(({ role }) => role === 'owner').map(({ _id }) => _id);
    const detail = { group: group._id, member_count: group.member_count, members: own.length, owners };
    if (group.member_count !== own.length) history.violate('a group counts other members than it has', detail);
    if ((group.closed_at !== null) !== (own.length === 0)) history.violate('a group is closed or open wrongly', detail);
    if (own.length > 0 && owners.join() !== group.owner_id) history.violate('a group has not one owner', detail);
    if (own.some(({ account_type }) => account_type !== group.account_type)) {
      history.violate('a member is of another type than the group', detail);
    }
  }
  for (const group of members.keys()) history.violate('users are in a group that is not there', { group });
}

/** An invite was used as often as somebody joined with it, and within its limit. */
async function checkInvites({ ledger, history, collections, users }: Evidence): Promise<void> {
  const registered = new Map<string, number>();
  const emails = new Set([...users.values()].map(({ email }) => email));
  for (const { invite, email } of ledger.registrations.values()) {
    if (invite !== undefined && emails.has(email)) registered.set(invite, (registered.get(invite) ?? 0) + 1);
  }
  const stored = new Map((await collections.invites.find().toArray()).map((invite) => [invite._id, invite]));
  for (const { token, maxUses, accepted, perhapsAccepted } of ledger.invites.values()) {
    const uses = stored.get(token)?.uses;
    const least = (registered.get(token) ?? 0) + accepted;
    const detail = { token, uses, least, most: least + perhapsAccepted, maxUses };
    if (uses === undefined) history.violate('an invite that was acknowledged is not there', detail);
    else if (uses < least || uses > least + perhapsAccepted) history.violate('an invite has other uses', detail);
    else if (maxUses !== null && uses > maxUses) history.violate('an invite was used too often', detail);
  }
}

/** A session has ended or not as its app was told, and live ones name the group that their user is in. */
async function checkSessions({ ledger, history, collections, users }: Evidence): Promise<void> {
  const left = new Set(ledger.sessions.keys());
  for await (const { _id, user_id, is_revoked, revoked_reason, claims } of collections.sessions.find()) {
    left.delete(_id);
    const told = ledger.sessions.get(_id)?.state;
    const detail = { sessionId: _id, user_id, told, revoked_reason };
    if (told === 'live' && is_revoked) history.violate('a session that its app has is revoked', detail);
    if (told === 'ended' && !is_revoked) history.violate('a session that was ended is live', detail);
    const group = users.get(user_id)?.home_group_id;
    if (!is_revoked && claims.home_group_id !== group) {
      history.violate('a live session speaks of another group', { ...detail, group, claims });
    }
  }
  for (const sessionId of left) history.violate('a session that was acknowledged is not there', { sessionId });
}

/** Every user has exactly one event of the registration, and every event is about a user. */
async function checkOutbox({ history, collections, users }: Evidence): Promise<void> {
  const events = new Map<string, number>();
  for await (const { event } of collections.outbox.find()) {
    if (event.type === registeredTopic) events.set(event.subject, (events.get(event.subject) ?? 0) + 1);
    if (!users.has(event.subject)) history.violate('an event without a user', { event: event.id });
  }
  for (const userId of users.keys()) {
    const count = events.get(userId) ?? 0;
    if (count !== 1) history.violate('a user has not one event', { userId, count });
  }
}

/** Tasks that are stored to be repeated were done. */
async function checkKeptAnswers({ history, collections, users }: Evidence): Promise<void> {
  const invites = new Set((await collections.invites.find().toArray()).map(({ _id }) => _id));
  for await (const { answer } of collections.idempotency.find()) {
    const { user_id, invite_token } = answer as { user_id?: string; invite_token?: string };
    if (user_id !== undefined && !users.has(user_id)) history.violate('a kept 201 without a user', { user_id });
    if (invite_token !== undefined && !invites.has(invite_token)) {
      history.violate('a kept 201 without an invite', { invite_token });
    }
  }
}
