import { randomUUID } from 'node:crypto';
import { urgentTopic } from '@auth-account/contracts/events';
import type { Stores } from '@auth-account/stores';
import { Binary, type ClientSession } from 'mongodb';
import { newChallengeDocument } from '../../../support/api/challenge-document.ts';
import { newSessionDocument } from '../../../support/api/session-document.ts';
import { newEvent } from '../../../support/worker/worker-events.ts';

/** Arguments for a call of a store function: the stores, and the session of a transaction that is rolled back later. */
export interface CallFixture {
  readonly stores: Stores;
  readonly session: ClientSession;
}

type Call = (on: CallFixture) => Promise<unknown>;

type Calls = { readonly [S in keyof Stores]?: { readonly [F in keyof Stores[S]]?: Call } };

const firstOf = (list: AsyncIterable<unknown>) => list[Symbol.asyncIterator]().next();

const id = randomUUID();
const other = randomUUID();
const at = new Date();
const event = newEvent();
const challenge = newChallengeDocument(at);
const build = { version: '0.0.0', generation: 9, beside: 0, needs: 0 };
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

const users: Calls['users'] = {
  findConfirmed: ({ stores }) => stores.users.findConfirmed(id),
  isMember: ({ stores }) => stores.users.isMember(id, id),
  exists: ({ stores }) => stores.users.exists(id),
  forgetDevice: ({ stores, session }) => stores.users.forgetDevice(id, { device_id: id }, session),
  touchGroupSessions: ({ stores, session }) => stores.users.touchGroupSessions(id, at, session),
  hasMoved: ({ stores }) => stores.users.hasMoved(id, { home_group_id: id, joined_at: at }),
  hasPasswordHash: ({ stores }) => stores.users.hasPasswordHash(id, 'none'),
  isDisabledSince: ({ stores }) => stores.users.isDisabledSince(id, at),
  setPasswordHash: ({ stores }) => stores.users.setPasswordHash(id, 'none', 'one'),
};

const passkeys: Calls['passkeys'] = {
  findHolderConfirmed: ({ stores }) => stores.passkeys.findHolderConfirmed(id),
  has: ({ stores }) => stores.passkeys.has(id, id),
};

const keptToken = { kid: 'k', token: new Binary(Buffer.alloc(48)), client_id: 'app' };
const storedToken = { userId: id, identityId: id, kid: 'k', token: keptToken.token };

const linked = { id, provider: 'office', sub: 'sub', created_at: at };

const identities: Calls['identities'] = {
  keepToken: ({ stores }) => stores.identities.keepToken({ userId: id, identity: linked }, keptToken, at),
  mark: ({ stores, session }) =>
    stores.identities.mark({ userId: id, identity: linked }, { set: { disabled_at: at } }, true, session),
  giveUp: ({ stores, session }) => stores.identities.giveUp({ userId: id, identity: linked }, at, session),
  listStale: ({ stores }) => firstOf(stores.identities.listStale(['k'])),
  reseal: ({ stores }) => stores.identities.reseal(storedToken, keptToken),
  has: ({ stores }) => stores.identities.has(id, id),
};

const groups: Calls['groups'] = {
  hasOwner: ({ stores }) => stores.groups.hasOwner(id, id),
};

const invites: Calls['invites'] = {
  exists: ({ stores }) => stores.invites.exists(id),
};

const sealed = { factor_id: id, kid: 'k', seed: new Binary(Buffer.alloc(48)) };

const secondFactors: Calls['secondFactors'] = {
  useRecoveryCode: ({ stores }) => stores.secondFactors.useRecoveryCode(id, 'none'),
  reseal: ({ stores }) => stores.secondFactors.reseal({ userId: id, sealed }, sealed),
  noteWarning: ({ stores, session }) => stores.secondFactors.noteWarning(id, 'second_factor', { at, due: at }, session),
};

const factorRemovals: Calls['factorRemovals'] = {
  findHolder: ({ stores }) => stores.factorRemovals.findHolder(id),
  countDue: ({ stores }) => stores.factorRemovals.countDue(at, 1),
};

const consumedProofs: Calls['consumedProofs'] = {
  find: ({ stores }) => stores.consumedProofs.find(id),
  findConfirmed: ({ stores }) => stores.consumedProofs.findConfirmed(id),
  consume: ({ stores, session }) => stores.consumedProofs.consume({ _id: id, proof: id, at, until: at }, session),
};

const providerRevocations: Calls['providerRevocations'] = {
  claim: ({ stores }) => stores.providerRevocations.claim(at, at, ['office']),
  defer: ({ stores }) => stores.providerRevocations.defer(id, at),
  remove: ({ stores }) => stores.providerRevocations.remove(id),
  count: ({ stores }) => stores.providerRevocations.count(),
  listStale: ({ stores }) => firstOf(stores.providerRevocations.listStale(['k'])),
  reseal: ({ stores }) => stores.providerRevocations.reseal(storedToken, keptToken),
};

const sessions: Calls['sessions'] = {
  findDevice: ({ stores }) => stores.sessions.findDevice(id),
  find: ({ stores }) => stores.sessions.find(id),
  findConfirmed: ({ stores }) => stores.sessions.findConfirmed(id),
  exists: ({ stores }) => stores.sessions.exists(id),
  areRevoked: ({ stores }) => stores.sessions.areRevoked([id]),
  listOpenedBy: ({ stores, session }) => stores.sessions.listOpenedBy(id, linked, session),
  rotate: ({ stores }) => stores.sessions.rotate({ ...seenSession, _id: other }, rotation),
  async holdOf({ stores }) {
    const hold = stores.sessions.holdOf([id]);
    await hold.take();
    await hold.release();
  },
};

const challenges: Calls['challenges'] = {
  exists: ({ stores }) => stores.challenges.exists(id),
  findConfirmed: ({ stores }) => stores.challenges.findConfirmed(challenge),
  findOpen: ({ stores }) => stores.challenges.findOpen(id, 'password_reset', at),
  async takeTry({ stores }) {
    const key = { _id: id, purpose: 'password_reset' } as const;
    for (const named of [key, { ...key, user_id: id }, { ...key, user_id: id, link: id }]) {
      await stores.challenges.find(named);
      await stores.challenges.takeTry(named, at);
    }
  },
  wasResent: ({ stores }) => stores.challenges.wasResent(id, id),
  wasUsed: ({ stores }) => stores.challenges.wasUsed(id, id),
};

const outbox: Calls['outbox'] = {
  appendDelivered: ({ stores, session }) => stores.outbox.appendDelivered(newEvent(), at, session),
  noteError: ({ stores }) => stores.outbox.noteError([id], 'an error'),
  record: ({ stores }) => stores.outbox.record([{ eventId: id, attempt }], ['analytics']),
  markDelivered: ({ stores }) => stores.outbox.markDelivered([{ eventId: id, by: ['analytics'], at }], ['analytics']),
  exists: ({ stores }) => stores.outbox.exists(id),
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
  add: ({ stores }) => {
    const givenUp = { ...attempt, outcome: 'given_up', error: 'no' } as const;
    return stores.deadLetters.add({ event, attempt: givenUp, attempts: 1, since: at, subscribers: ['analytics'] });
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

/**
 * Calls of store functions that requests, workers and commands do not always call: checks after a lost answer, races,
 * and a worker's steps for many rows. The test of the queries names each function that nothing calls. The ids belong to
 * nobody.
 */
export const storeCalls: Calls = {
  ...{
    users,
    passkeys,
    identities,
    groups,
    invites,
    sessions,
    secondFactors,
    factorRemovals,
    providerRevocations,
    consumedProofs,
    challenges,
    outbox,
    deadLetters,
  },
  deletions: { countDue: ({ stores }) => stores.deletions.countDue(new Date(0), 1) },
  upgrades: {
    note: ({ stores }) => stores.upgrades.note(build, 'completed_at'),
    reopen: ({ stores }) => stores.upgrades.reopen(build),
  },
  subscribers: { retry: ({ stores }) => stores.subscribers.retry('analytics', at) },
  idempotency: { findConfirmed: ({ stores }) => stores.idempotency.findConfirmed([id, other]) },
};
