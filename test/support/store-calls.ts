import { randomUUID } from 'node:crypto';
import { urgentTopic } from '@auth-account/contracts/events';
import type { Stores } from '@auth-account/stores';
import type { ClientSession } from 'mongodb';
import { newChallengeDocument } from './challenge-document.ts';
import { newSessionDocument } from './session-document.ts';
import { newUserDocument } from './use-case-scene.ts';
import { newEvent } from './worker-events.ts';

/** Needs of a call of a store: the stores, and the session of a transaction that is rolled back afterwards. */
export interface CallScene {
  readonly stores: Stores;
  readonly session: ClientSession;
}

type Call = (on: CallScene) => Promise<unknown>;

/** A call of each function of each store: one that is added does not compile without an entry. */
type Calls = {
  readonly [S in keyof Stores]: Stores[S] extends (...args: never[]) => unknown
    ? Call
    : { readonly [F in keyof Stores[S]]: Call };
};

const id = randomUUID();
const other = randomUUID();
const at = new Date();
const minuteAgo = new Date(at.getTime() - 60_000);
const email = `nobody-${id}@example.com`;
const user = newUserDocument(at);
const requestId = 'request-1';
const revocation = { reason: 'logout', at, requestId } as const;
const former = { change_id: id, email, email_key: email, until: at };
const event = newEvent();
const challenge = newChallengeDocument(at);
const claim = { lease: id, now: at, limit: 1 };
const attempt = { subscriber: 'analytics', at, outcome: 'delivered' } as const;
const { _id, ...sessionFields } = newSessionDocument();
const seenSession = { ...sessionFields, _id: id };
const rotation = {
  token: 'none',
  kid: 'k',
  gen: 2,
  parent: 1,
  floor: 1,
  handed_out_at: at,
  last_used_at: at,
  expires_at: at,
};
const group = {
  _id: id,
  account_type: 'HOME',
  owner_id: id,
  member_count: 1,
  created_at: at,
  closed_at: null,
} as const;
const invite = {
  _id: id,
  home_group_id: id,
  account_type: 'HOME',
  created_by: id,
  created_at: at,
  expires_at: at,
  max_uses: null,
  uses: 0,
  revoked_at: null,
} as const;

async function readAll(pages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pages);
}

const users: Calls['users'] = {
  find: ({ stores }) => stores.users.find(id),
  findConfirmed: ({ stores }) => stores.users.findConfirmed(id),
  findByEmail: ({ stores }) => stores.users.findByEmail(email),
  findAddressee: ({ stores }) => stores.users.findAddressee({ email }),
  isEmailTaken: ({ stores }) => stores.users.isEmailTaken(email, at),
  isMember: ({ stores }) => stores.users.isMember(id, id),
  exists: ({ stores }) => stores.users.exists(id),
  insert: ({ stores, session }) => stores.users.insert(user, session),
  touchLogin: ({ stores, session }) => stores.users.touchLogin(id, at, session),
  touchSessions: ({ stores, session }) => stores.users.touchSessions(id, at, session),
  forgetDevice: ({ stores }) => stores.users.forgetDevice(id, id),
  touchGroupSessions: ({ stores, session }) => stores.users.touchGroupSessions(id, at, session),
  move: ({ stores, session }) =>
    stores.users.move(id, id, { home_group_id: id, account_type: 'HOME', role: 'member', joined_at: at }, session),
  hasMoved: ({ stores }) => stores.users.hasMoved(id, { home_group_id: id, joined_at: at }),
  promoteEldest: ({ stores, session }) => stores.users.promoteEldest(id, session),
  setRole: ({ stores, session }) => stores.users.setRole(id, id, 'owner', session),
  findDisplayName: ({ stores }) => stores.users.findDisplayName(id),
  listGroup: ({ stores }) => stores.users.listGroup(id),
  changeFresh: ({ stores, session }) => stores.users.changeFresh(user, { locale: 'en' }, session),
  hasPasswordHash: ({ stores }) => stores.users.hasPasswordHash(id, 'none'),
  disable: ({ stores, session }) => stores.users.disable(id, { at, reason: 'none', by: 'nobody' }, session),
  isDisabledSince: ({ stores }) => stores.users.isDisabledSince(id, at),
  enable: ({ stores }) => stores.users.enable(id),
  changeProfile: ({ stores }) => stores.users.changeProfile(id, { locale: 'en' }, at),
  setPasswordHash: ({ stores }) => stores.users.setPasswordHash(id, 'none', 'one'),
};

const deletions: Calls['deletions'] = {
  schedule: ({ stores, session }) => stores.deletions.schedule(user, at, session),
  cancel: ({ stores, session }) => stores.deletions.cancel(user, at, session, { isOperator: true }),
  claim: ({ stores }) => stores.deletions.claim({ lease: id, now: at, dueBy: new Date(0), until: at }),
  removeEndedSessions: ({ stores }) => stores.deletions.removeEndedSessions(id, 1),
  listEndedSince: ({ stores }) => stores.deletions.listEndedSince(id, at),
  erase: ({ stores, session }) => stores.deletions.erase({ user, lease: id }, { now: at, lifetimeMs: 1 }, session),
  countDue: ({ stores }) => stores.deletions.countDue(new Date(0), 1),
};

const emailChanges: Calls['emailChanges'] = {
  findHolder: ({ stores }) => stores.emailChanges.findHolder(email, at),
  request: ({ stores, session }) => stores.emailChanges.request(user, email, at, session),
  change: ({ stores, session }) => stores.emailChanges.change(user, { email, former, known_devices: [], at }, session),
  findByChange: ({ stores }) => stores.emailChanges.findByChange(id),
  undo: ({ stores, session }) =>
    stores.emailChanges.undo(user, { former, others: [], password_hash: 'none', at }, session),
  listLapsed: ({ stores }) => stores.emailChanges.listLapsed(minuteAgo, 1),
  removeFormer: ({ stores }) => stores.emailChanges.removeFormer({ userId: id, former: [former] }),
  removeLapsedPending: ({ stores }) => stores.emailChanges.removeLapsedPending(new Date(0)),
};

const groups: Calls['groups'] = {
  insert: ({ stores, session }) => stores.groups.insert(group, session),
  find: ({ stores }) => stores.groups.find(id),
  isFull: ({ stores }) => stores.groups.isFull(id, 1),
  addMember: ({ stores, session }) => stores.groups.addMember(id, 9, session),
  removeMember: ({ stores, session }) => stores.groups.removeMember(id, at, session),
  setOwner: ({ stores, session }) => stores.groups.setOwner(id, id, session),
  rename: ({ stores }) => stores.groups.rename(other, id, 'none'),
  handOver: ({ stores, session }) => stores.groups.handOver(id, id, other, session),
  hasOwner: ({ stores }) => stores.groups.hasOwner(id, id),
  isOwnedBy: ({ stores }) => stores.groups.isOwnedBy(id, id),
  countInvite: ({ stores, session }) => stores.groups.countInvite(id, id, session),
};

const invites: Calls['invites'] = {
  find: ({ stores }) => stores.invites.find(id),
  exists: ({ stores }) => stores.invites.exists(id),
  insert: ({ stores, session }) => stores.invites.insert(invite, session),
  countGood: ({ stores, session }) => stores.invites.countGood(id, at, session),
  list: ({ stores }) => stores.invites.list(id, at, 1),
  listMadeBy: ({ stores }) => stores.invites.listMadeBy(id, 1),
  use: ({ stores, session }) => stores.invites.use(id, at, session),
  revoke: ({ stores }) => stores.invites.revoke(id, id, at),
  revokeOfGroup: ({ stores, session }) => stores.invites.revokeOfGroup(id, at, session),
  revokeMadeBy: ({ stores, session }) => stores.invites.revokeMadeBy(id, at, session),
};

const sessions: Calls['sessions'] = {
  find: ({ stores }) => stores.sessions.find(id),
  findConfirmed: ({ stores }) => stores.sessions.findConfirmed(id),
  exists: ({ stores }) => stores.sessions.exists(id),
  findStanding: ({ stores }) => stores.sessions.findStanding(id),
  listOwn: ({ stores }) => stores.sessions.listOwn(id, at),
  listHeld: ({ stores }) => stores.sessions.listHeld(id, 1),
  areRevoked: ({ stores }) => stores.sessions.areRevoked([id]),
  listLive: ({ stores, session }) => stores.sessions.listLive(id, session),
  findLive: ({ stores, session }) => stores.sessions.findLive(id, session),
  listLiveOf: ({ stores, session }) => stores.sessions.listLiveOf([id], session),
  insert: ({ stores, session }) => stores.sessions.insert(seenSession, session),
  revokeOf: ({ stores, session }) => stores.sessions.revokeOf(id, revocation, session),
  revokeAll: ({ stores }) => stores.sessions.revokeAll([other], revocation),
  revokeOwn: ({ stores }) => stores.sessions.revokeOwn({ sessionId: other, userId: id }, revocation),
  revokeNewest: ({ stores }) =>
    stores.sessions.revokeNewest({ sessionId: other, userId: id, tokenHash: 'none' }, revocation),
  advance: ({ stores }) => {
    const next = { block: 0, start: 0, length: 1 };
    return stores.sessions.advance({ sessionId: id, token: 'none', generation: 1, kid: 'k', next, at, expiresAt: at });
  },
  rotate: ({ stores }) => stores.sessions.rotate({ ...seenSession, _id: other }, rotation),
  changeClaims: ({ stores, session }) =>
    stores.sessions.changeClaims(id, { home_group_id: id, account_type: 'HOME', at, requestId }, session),
  async holdOf({ stores }) {
    const hold = stores.sessions.holdOf([id], () => at);
    await hold.take();
    await hold.release();
  },
  withFence: ({ stores }) =>
    stores.sessions.withFence(async (fenced) => {
      await readAll(fenced.listChangedSince(at, 1));
      await readAll(fenced.listRevokedSince(at, 1));
    }),
};

const challenges: Calls['challenges'] = {
  insert: ({ stores, session }) => stores.challenges.insert(challenge, session),
  exists: ({ stores }) => stores.challenges.exists(id),
  find: ({ stores }) => stores.challenges.find(challenge),
  findConfirmed: ({ stores }) => stores.challenges.findConfirmed(challenge),
  findOpen: ({ stores }) => stores.challenges.findOpen(id, 'password_reset', at),
  listOf: ({ stores }) => stores.challenges.listOf(id),
  async takeTry({ stores }) {
    const key = { _id: id, purpose: 'password_reset' } as const;
    for (const named of [key, { ...key, user_id: id }]) await stores.challenges.takeTry(named, at);
  },
  takeResend: ({ stores, session }) =>
    stores.challenges.takeResend(challenge, { resent_by: id, resend_at: at }, at, session),
  wasResent: ({ stores }) => stores.challenges.wasResent(id, id),
  use: ({ stores, session }) => stores.challenges.use(id, id, at, session),
  wasUsed: ({ stores }) => stores.challenges.wasUsed(id, id),
  endAll: ({ stores, session }) => stores.challenges.endAll(id, at, session),
};

const outbox: Calls['outbox'] = {
  append: ({ stores, session }) => stores.outbox.append(event, at, session),
  appendDelivered: ({ stores, session }) => stores.outbox.appendDelivered(newEvent(), at, session),
  noteError: ({ stores }) => stores.outbox.noteError([id], 'an error'),
  record: ({ stores }) => stores.outbox.record([{ eventId: id, attempt }], ['analytics']),
  markDelivered: ({ stores }) => stores.outbox.markDelivered([{ eventId: id, by: ['analytics'], at }], ['analytics']),
  find: ({ stores }) => stores.outbox.find(id),
  exists: ({ stores }) => stores.outbox.exists(id),
  findByRequest: ({ stores }) => stores.outbox.findByRequest(requestId),
  list: ({ stores }) => stores.outbox.list({ state: 'dead', since: at, until: at, after: id, limit: 1 }),
  retentionSeconds: ({ stores }) => stores.outbox.retentionSeconds(),
  backlog: ({ stores }) => stores.outbox.backlog(1),
  claim: async ({ stores }) => {
    await stores.outbox.claim(claim);
    await stores.outbox.claim({ ...claim, topic: urgentTopic });
  },
  claimHeld: async ({ stores }) => {
    await stores.outbox.claimHeld({ ...claim, opened: ['analytics'] });
    await stores.outbox.claimHeld({ ...claim, opened: [] });
  },
  hold: ({ stores }) => stores.outbox.hold([{ row: { _id: id, lease: id }, for: ['analytics'], isAll: true }], at),
  release: ({ stores }) => stores.outbox.release(at),
};

const deadLetters: Calls['deadLetters'] = {
  bury: ({ stores }) => {
    const givenUp = { ...attempt, outcome: 'given_up', error: 'no' } as const;
    return stores.deadLetters.bury({ event, attempt: givenUp, attempts: 1, since: at, takers: ['analytics'] });
  },
  list: async ({ stores }) => {
    await stores.deadLetters.list({ since: at, until: at, limit: 1, after: { _id: id, created_at: at } });
    await stores.deadLetters.list({ subscriber: 'analytics', limit: 1 });
  },
  find: async ({ stores }) => {
    await stores.deadLetters.find(id);
    await stores.deadLetters.find(id, 'analytics');
  },
  discard: ({ stores }) => stores.deadLetters.discard(event.id, 'analytics', at),
  counts: ({ stores }) => stores.deadLetters.counts(1),
};

/** Calls by store and function, each with ids that nobody has. */
export const storeCalls: Calls = {
  ...{ users, deletions, emailChanges, groups, invites, sessions, challenges, outbox, deadLetters },
  memberships: {
    end: ({ stores, session }) =>
      stores.memberships.end({ userId: id, groupId: id, at }, session).catch((error: Error) => error),
  },
  idempotency: {
    find: ({ stores }) => stores.idempotency.find([id, other]),
    findConfirmed: ({ stores }) => stores.idempotency.findConfirmed([id, other]),
    insert: ({ stores, session }) =>
      stores.idempotency.insert([{ _id: id, fingerprint: 'none', answer: {}, expires_at: at }], session),
  },
  subscribers: {
    list: ({ stores }) => stores.subscribers.list(),
    configure: ({ stores }) => stores.subscribers.configure(['analytics'], at),
    park: ({ stores }) => stores.subscribers.park('crm', { at, eventId: id }),
    resume: ({ stores }) => stores.subscribers.resume('crm', at),
  },
  replay: ({ stores }) => stores.replay({ eventId: event.id, deadOnly: false, at }),
};
