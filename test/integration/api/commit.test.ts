import { randomUUID } from 'node:crypto';
import { waitUntil } from '@auth-account/local-stack';
import { createAccountEvent } from '@auth-account/messaging';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Change,
  type Commit,
  type CommitDeps,
  none,
  type Outcome,
} from '../../../services/api/src/announcements/commit.ts';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import { createIds } from '../../../services/api/src/request/ids.ts';
import { createWarnOfGuesses } from '../../../services/api/src/usecases/proofs/warn-of-guesses.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { bearerOf } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const user_id = randomUUID();
const session_id = randomUUID();
const newEvent = () => {
  const origin = { id: randomUUID(), requestId: 'request-1', traceparent: undefined, at: fixture.now() };
  return createAccountEvent(
    'service.auth.events.email_verified',
    { user_id, verified_at: origin.at.toISOString() },
    origin,
  );
};

/** Returns a change that writes nothing itself. */
function changeOf(outcome: Partial<Outcome>, rest: Partial<Change<Outcome>> = {}): Change<Outcome> {
  const work = async () => ({ events: none, audit: none, sessions: none, ...outcome });
  return { at: fixture.now(), isCommitted: 'by event', ifClientLeft: 'commit', work, ...rest };
}

const gone = () => ({ ...fixture.origin, isAbandoned: () => true });

describe('a change', () => {
  test('a change appends its events, and after the commit publishes, notifies, audits and announces, in this order', async () => {
    const [one, two] = [newEvent(), newEvent()];
    const steps: unknown[] = [];
    const step = (name: string) => (what: unknown) => void steps.push([name, what]);
    const notifiers: Partial<CommitDeps> = {
      publishEvent: step('published'),
      notifySessions: step('notified'),
      audit: step('audited'),
      announce: async (announcement) => step('announced')(announcement),
    };
    const ended = { userId: user_id, reason: 'password_changed', sessionIds: [session_id] } as const;
    const verified = { event: 'account.email_verified', user_id } as const;
    const content = { topic: 'topic', payload: {}, id: one.id, at: fixture.now() };
    const sessions = [ended, { changed: [{ sessionId: 'moved', ver: 2 }] }];
    const outcome = { events: [one, two], audit: [verified], sessions, messages: [{ to: ['other'], content }] };
    await fixture.commitWith(notifiers)(changeOf(outcome), fixture.origin);
    const [at, requestId] = [fixture.now(), fixture.origin.requestId];
    expect(steps).toEqual([
      ['published', one],
      ['published', two],
      ['notified', ['other']],
      ['audited', verified],
      ['audited', { event: 'session.revoked', user_id, session_id, reason: 'password_changed' }],
      ['announced', { sessionIds: [session_id], reason: 'SESSION_REVOKED', requestId, at }],
      ['announced', { changed: [{ sessionId: 'moved', ver: 2 }], reason: 'GROUP_CHANGED', requestId, at }],
    ]);
    expect((await fixture.rows()).map(({ event, state }) => [event, state])).toEqual(
      [one, two].sort((a, b) => (a.id < b.id ? -1 : 1)).map((event) => [event, 'pending']),
    );
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a change without an event counts as rolled back if its commit gets no answer', async () => {
    await fixture.commit(changeOf({}), fixture.origin);
    expect([fixture.verdicts, await fixture.rows(), fixture.audited, fixture.announced]).toEqual([
      [false, false],
      [],
      [],
      [],
    ]);
  });

  test('a change that knows itself whether it was made is asked, with or without an event', async () => {
    await fixture.commit(changeOf({}, { isCommitted: async () => true }), fixture.origin);
    await fixture.commit(changeOf({ events: [newEvent()] }, { isCommitted: async () => false }), fixture.origin);
    expect(fixture.verdicts).toEqual([true, true, false, false]);
  });

  test('a change of a caller writes its user’s document, so that an end of all sessions and it do not miss each other', async () => {
    const { _id } = await fixture.user();
    const changesBy = async (caller?: ReturnType<typeof bearerOf>) => {
      await fixture.commit(changeOf({}), { ...fixture.origin, ...(caller && { caller }) });
      return (await fixture.collections.users.findOne({ _id }))?.changes;
    };
    expect(await changesBy()).toBeUndefined();
    expect(await changesBy(bearerOf(await fixture.session({ user_id: _id })))).toBe(1);
  });

  test('a change of a caller whose session has ended or is gone is refused, unless it says otherwise', async () => {
    const [live, ended] = [await fixture.session(), await fixture.session({ is_revoked: true })];
    const by = ({ document }: Pick<typeof live, 'document'>) => ({ ...fixture.origin, caller: bearerOf({ document }) });
    const gone = { document: { ...live.document, _id: randomUUID() } };
    const over = { code: 'IAD_JWT_ACCESS_INVALID' };
    for (const caller of [ended, gone]) {
      await expect(fixture.commit(changeOf({ events: [newEvent()] }), by(caller))).rejects.toMatchObject(over);
      await fixture.commit(changeOf({}, { outlivesCaller: true }), by(caller));
    }
    expect([await fixture.rows(), fixture.published]).toEqual([[], []]);
    await fixture.commit(changeOf({ events: [newEvent()] }), by(live));
    expect(await fixture.rows()).toHaveLength(1);
  });

  test('an event that may be for nobody is published a moment later, and only if it is for a user', async () => {
    const make = (isFor: 'user' | 'nobody') => Array.from({ length: 9 }, () => ({ event: newEvent(), isFor }));
    const [wanted, unwanted] = [make('user'), make('nobody')];
    await fixture.commit(changeOf({ events: [...wanted, ...unwanted] }), fixture.origin);
    await waitUntil(async () => fixture.published.length >= wanted.length, { what: 'the events', timeoutMs: 60_000 });
    const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id).toSorted();
    expect(idsOf(fixture.published)).toEqual(idsOf(wanted.map(({ event }) => event)));
    const pending = (await fixture.rows()).filter(({ state }) => state === 'pending').map(({ event }) => event);
    expect(idsOf(pending)).toEqual(idsOf(fixture.published));
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a warning of guesses is such an event, so the time of the answer does not show whether there is an account', async () => {
    const events: unknown[] = [];
    const commit: Commit = async (change, origin) => {
      const outcome = await fixture.commit(change, origin);
      events.push(...outcome.events);
      return outcome;
    };
    const secondFactors = { noteWarning: async () => true };
    const warn = createWarnOfGuesses({ ...{ secondFactors, commit, now: fixture.now }, ids: createIds(Date.now) });
    for (const user of [{ _id: user_id }, undefined]) await warn('password', user, fixture.origin);
    expect(events).toMatchObject([{ isFor: 'user' }, { isFor: 'nobody' }]);
    await waitUntil(async () => fixture.published.length === 1, { what: 'the warning', timeoutMs: 60_000 });
  });

  test('a change whose work fails notifies nobody', async () => {
    const work = () => Promise.reject(new Error('no'));
    await expect(fixture.commit(changeOf({}, { work }), fixture.origin)).rejects.toThrow('no');
    expect([fixture.published, fixture.audited, fixture.announced, fixture.messages]).toEqual([[], [], [], []]);
  });

  test('a change of a client that has disconnected is committed or not, as the change says', async () => {
    const outcome = { events: [newEvent()], audit: [{ event: 'account.email_verified', user_id } as const] };
    const aborted = fixture.commit(changeOf(outcome, { ifClientLeft: 'abort' }), gone());
    await expect(aborted).rejects.toBeInstanceOf(RequestAbandoned);
    expect([await fixture.rows(), fixture.published, fixture.audited]).toEqual([[], [], []]);
    await fixture.commit(changeOf(outcome), gone());
    expect([await fixture.rows(), fixture.published, fixture.audited]).toMatchObject([
      { length: 1 },
      { length: 1 },
      [{}],
    ]);
  });
});

test('a change that forgets one of its five parts does not compile', () => {
  const at = new Date(0);
  const isCommitted = 'by event';
  const ifClientLeft = 'commit';
  const { commit, origin } = fixture;
  // Each line must be an error to the compiler, which otherwise reports the comment above the line.
  const forgetful = () => [
    // @ts-expect-error: events
    commit({ at, isCommitted, ifClientLeft, work: async () => ({ audit: none, sessions: none }) }, origin),
    // @ts-expect-error: the audit log
    commit({ at, isCommitted, ifClientLeft, work: async () => ({ events: none, sessions: none }) }, origin),
    // @ts-expect-error: sessions
    commit({ at, isCommitted, ifClientLeft, work: async () => ({ events: none, audit: none }) }, origin),
    // @ts-expect-error: how the store knows it
    commit({ at, ifClientLeft, work: async () => ({ events: none, audit: none, sessions: none }) }, origin),
    // @ts-expect-error: a client that has left
    commit({ at, isCommitted, work: async () => ({ events: none, audit: none, sessions: none }) }, origin),
  ];
  expect(forgetful).toHaveLength(0);
});
