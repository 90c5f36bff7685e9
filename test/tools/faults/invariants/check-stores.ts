import { registeredTopic } from '@auth-account/contracts';
import type { UserDocument } from '@auth-account/stores/documents';
import type { Registration } from '../load/ledger.ts';
import { type Evidence, isForNobody } from './evidence.ts';

/** Compares MongoDB with the answers to the apps, after the last answer. */
export async function checkStores(evidence: Evidence): Promise<void> {
  checkRegistrations(evidence);
  await checkGroups(evidence);
  await checkInvites(evidence);
  await checkSessions(evidence);
  checkOutbox(evidence);
  await checkKeptAnswers(evidence);
}

/** Checks that every 201 has a user, that every refused registration has none, and that there are no other users. */
function checkRegistrations(evidence: Evidence): void {
  const { ledger, history, users, erased } = evidence;
  const byEmail = new Map([...users.values()].map((user) => [user.email, user]));
  if (byEmail.size !== users.size) {
    history.violate('an email address has several users', { addresses: byEmail.size, users: users.size });
  }
  for (const registration of ledger.registrations.values()) {
    const { email, outcome, userId } = registration;
    const user = userId === undefined ? byEmail.get(email) : users.get(userId);
    if (user !== undefined) {
      byEmail.delete(user.email);
      if (outcome === 'refused') history.violate('a refused registration has a user', { email });
      else checkUser(registration, user, evidence);
    } else if (userId !== undefined && !erased.has(userId)) history.violate('a 201 has no user', { email, userId });
  }
  for (const email of byEmail.keys()) history.violate('a user whom nobody registered', { email });
}

/** Checks that a user has the email address and the group that the app knows. */
function checkUser(
  { email: first, userId = '', person }: Registration,
  { email, home_group_id }: UserDocument,
  { ledger, history }: Evidence,
): void {
  const known = ledger.accounts.get(userId)?.person.holds.map((pair) => pair.email) ?? [first];
  if (!known.includes(email))
    history.violate('a user has another email address than its app', { userId, known, email });
  if (person.groupId !== undefined && home_group_id !== person.groupId) {
    history.violate('a user is in another group than its app', { email, expected: person.groupId, home_group_id });
  }
}

/** Checks that every user is in an open group that counts its members right, and that each open group has one owner. */
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

/** Checks that an invite was used as often as users joined with it, and not beyond its limit. */
async function checkInvites({ ledger, history, collections, users }: Evidence): Promise<void> {
  const emails = new Set([...users.values()].map(({ email }) => email));
  const done = [...ledger.registrations.values()].filter(
    // An acknowledged user may have changed the email address since, or be erased.
    ({ outcome, email }) => outcome === 'acknowledged' || emails.has(email),
  );
  const registered = Map.groupBy(done, ({ invite }) => invite);
  const stored = new Map((await collections.invites.find().toArray()).map((invite) => [invite._id, invite]));
  for (const { token, maxUses, accepted, perhapsAccepted } of ledger.invites.values()) {
    const uses = stored.get(token)?.uses;
    const min = (registered.get(token)?.length ?? 0) + accepted;
    const detail = { token, uses, min, max: min + perhapsAccepted, maxUses };
    if (uses === undefined) history.violate('an invite that was acknowledged is not there', detail);
    else if (uses < min || uses > min + perhapsAccepted) history.violate('an invite has other uses', detail);
    else if (maxUses !== null && uses > maxUses) history.violate('an invite was used too often', detail);
  }
}

/** Checks that a session is live or has ended as its app knows, and that live sessions name their user's group. */
async function checkSessions({ ledger, history, collections, users, erased }: Evidence): Promise<void> {
  const left = new Set(ledger.sessions.keys());
  for await (const { _id, user_id, is_revoked, revoked_reason, claims } of collections.sessions.find()) {
    left.delete(_id);
    const expected = ledger.sessions.get(_id)?.state;
    const detail = { sessionId: _id, user_id, expected, revoked_reason };
    if (expected === 'live' && is_revoked) history.violate('a session that its app has is revoked', detail);
    if (expected === 'ended' && !is_revoked) history.violate('a session that was ended is live', detail);
    const group = users.get(user_id)?.home_group_id;
    if (!is_revoked && claims.home_group_id !== group) {
      history.violate('a live session speaks of another group', { ...detail, group, claims });
    }
  }
  for (const sessionId of left) {
    const userId = ledger.sessions.get(sessionId)?.userId ?? '';
    if (!erased.has(userId)) history.violate('a session that was acknowledged is not there', { sessionId, userId });
  }
}

/** Checks that every user has exactly one event of the registration, and that every event is about a user. */
function checkOutbox({ history, rows, users, erased }: Evidence): void {
  for (const row of rows) {
    const { type, subject, id } = row.event;
    const isKnown = users.has(subject) || erased.has(subject) || isForNobody(row);
    if (!isKnown) history.violate('an event without a user', { event: id, type });
  }
  const registered = rows.filter(({ event }) => event.type === registeredTopic);
  const events = Map.groupBy(registered, ({ event }) => event.subject);
  for (const userId of [...users.keys(), ...erased.keys()]) {
    const count = events.get(userId)?.length ?? 0;
    if (count !== 1) history.violate('a user has not one event', { userId, count });
  }
}

/** Checks that every stored answer, which a retry would get, is about a user or invite that exists. */
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
