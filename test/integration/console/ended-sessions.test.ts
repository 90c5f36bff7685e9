import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, logOut, newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { refresh } from '../../support/api/groups.ts';
import { linkIdentity, logInByProvider, newPerson, sendSecurityEvent } from '../../support/api/providers.ts';
import { insertSessionsBeside, newSessionDocument } from '../../support/api/session-document.ts';
import { authctl } from '../../support/processes/authctl.ts';
import { plansOf } from '../../support/stores/query-plans.ts';
import { openReadingFixture, type ReadingFixture } from './reading-fixture.ts';

let fixture: ReadingFixture;
beforeAll(async () => {
  fixture = await openReadingFixture();
});
afterAll(() => fixture.close());

interface Ended {
  readonly session_id: string;
  readonly ended_at: string;
  readonly reason: string;
  readonly request_id: string | null;
}

/** Reads the sessions of the account that have ended, part by part. */
async function endedOf(userId: string): Promise<Ended[][]> {
  const parts: Ended[][] = [];
  let after = '';
  for (;;) {
    const { status, json } = await fixture.read(`/api/accounts/${userId}/ended${after}`);
    expect(status).toBe(200);
    parts.push(json.items);
    if (json.next === null) return parts;
    after = `?after=${json.next}`;
  }
}

/** Returns why the session has ended, with everything that explains it. */
async function endOf(userId: string, sessionId: string) {
  return (await endedOf(userId)).flat().find(({ session_id }) => session_id === sessionId);
}

const nobody = { by_device: null, notice: null, operator: null, replaced_by: null };

test('a logout is told with its request', async () => {
  const session = await newSession(fixture, { device_name: 'Phone', platform: 'ios' });
  const headers = { ...bearer(session), 'X-Request-ID': 'logout-of-phone' };
  await fixture.logOut({ refresh_token: session.refresh_token }, headers);
  expect(await endOf(session.user_id, session.session_id)).toEqual({
    ...nobody,
    session_id: session.session_id,
    device_id: session.device_id,
    device_name: 'Phone',
    platform: 'ios',
    methods: ['pwd'],
    is_bound: false,
    created_at: expect.any(String),
    created_request_id: 'test-request-1',
    last_used_at: expect.any(String),
    ended_at: expect.stringMatching(/Z$/),
    reason: 'logout',
    request_id: 'logout-of-phone',
  });
});

test('a session that was ended from another device names that device', async () => {
  const lost = await newSession(fixture, { device_name: 'Lost phone' });
  const used = await logIn(fixture, lost.email, { device_name: 'Kitchen tablet', platform: 'android' });
  expect((await fixture.revokeSession({ session_id: lost.session_id }, bearer(used))).status).toBe(200);
  const by_device = { session_id: used.session_id, device_name: 'Kitchen tablet', platform: 'android' };
  expect(await endOf(lost.user_id, lost.session_id)).toMatchObject({ ...nobody, reason: 'revoked_by_user', by_device });
});

test('a session that a login on its device replaced names its successor, however that one has ended', async () => {
  const first = await newSession(fixture, { device_id: randomUUID() });
  const { device_id } = first;
  const again = () =>
    fixture.logIn(
      { email: first.email, password: 'correct horse battery', device_id },
      { 'X-Request-ID': `login-${randomUUID()}` },
    );
  const second = (await again()).json.data;
  const third = (await again()).json.data;
  const endOfSession = (id: string) => endOf(first.user_id, id);
  const replaced = { ...nobody, reason: 'replaced' };
  expect(await endOfSession(first.session_id)).toMatchObject({ ...replaced, replaced_by: second.session_id });
  expect(await endOfSession(second.session_id)).toMatchObject({ ...replaced, replaced_by: third.session_id });
  await logOut(fixture, third);
  expect(await endOfSession(second.session_id)).toMatchObject({ ...replaced, replaced_by: third.session_id });
});

test('a refresh token that was used twice after a newer one is told as theft', async () => {
  const session = await newSession(fixture);
  const second = await refresh(fixture, session);
  await refresh(fixture, second);
  await fixture.refreshTokens({ refresh_token: session.refresh_token });
  expect(await endOf(session.user_id, session.session_id)).toMatchObject({ ...nobody, reason: 'refresh_token_reuse' });
});

test('a security event of a provider is named', async () => {
  const owner = await newSession(fixture);
  const person = newPerson();
  await linkIdentity(fixture, owner, person);
  const opened = (await logInByProvider(fixture, person)).json.data;
  await sendSecurityEvent(fixture, { type: 'consent-revoked', sub: person.sub });
  const end = await endOf(owner.user_id, opened.session_id);
  expect(end).toMatchObject({ ...nobody, reason: 'revoked_by_provider', notice: expect.stringMatching(/^office /) });
});

test('a forced logout is told with the reason of its order, and a disabled account with who did it', async () => {
  const session = await newSession(fixture);
  const reason = ['--reason', 'stolen phone, ticket 12'];
  expect((await authctl(['user', 'logout', session.user_id, ...reason], fixture.options)).exitCode).toBe(0);
  const forced = { ...nobody, reason: 'forced', operator: { name: null, reason: 'stolen phone, ticket 12' } };
  expect(await endOf(session.user_id, session.session_id)).toMatchObject(forced);
  const again = await logIn(fixture, session.email);
  await authctl(['user', 'disable', session.user_id, '--reason', 'spam', '--as', 'Olga'], fixture.options);
  const disabled = { ...nobody, reason: 'account_disabled', operator: { name: 'Olga', reason: 'spam' } };
  expect(await endOf(session.user_id, again.session_id)).toMatchObject(disabled);
  await authctl(['user', 'enable', session.user_id, '--reason', 'sorry'], fixture.options);
  // From then on only the audit log knows it.
  expect(await endOf(session.user_id, again.session_id)).toMatchObject({ reason: 'account_disabled', operator: null });
});

test('the session unused for longest that had to make room says so', async () => {
  const session = await newSession(fixture);
  await insertSessionsBeside(fixture.collections, session.session_id, 49);
  await logIn(fixture, session.email);
  expect(await endOf(session.user_id, session.session_id)).toMatchObject({ ...nobody, reason: 'session_limit' });
});

test('a session that nobody used is told as expired, at the time of its expiry, and is not among the living ones', async () => {
  const session = await newSession(fixture);
  const expires_at = new Date(Date.now() - 60_000);
  await fixture.collections.sessions.updateOne({ _id: session.session_id }, { $set: { expires_at } });
  const expired = { reason: 'expired', ended_at: expires_at.toISOString(), request_id: null };
  expect(await endOf(session.user_id, session.session_id)).toMatchObject({ ...nobody, ...expired });
  const { json } = await fixture.read(`/api/accounts/${session.user_id}`);
  expect([json.sessions, json.ended.items.length]).toEqual([[], 1]);
});

/** Adds sessions that ended then, and returns their ids. */
async function insertEnded(userId: string, times: readonly number[]): Promise<string[]> {
  const documents = times.map((at) => {
    const revoked = { is_revoked: true, revoked_at: new Date(at), revoked_reason: 'logout' as const };
    return { ...newSessionDocument(), user_id: userId, created_at: new Date(at - 1_000), ...revoked };
  });
  await fixture.collections.sessions.insertMany(documents);
  return documents.map(({ _id }) => _id);
}

test('a long list comes in parts, each session once, and those that ended together stay together', async () => {
  const { user_id, session_id } = await newSession(fixture);
  const begun = Date.now() - 1_000_000;
  // The twentieth is one of eight that ended at once, and one has expired among them.
  const times = Array.from({ length: 61 }, (_, index) => begun - (index >= 16 && index < 24 ? 16 : index) * 1_000);
  const ids = await insertEnded(user_id, times);
  const expires_at = new Date(begun - 16_000);
  await fixture.collections.sessions.updateOne({ _id: session_id }, { $set: { expires_at } });
  const parts = await endedOf(user_id);
  expect(parts.map(({ length }) => length)).toEqual([25, 20, 17]);
  const all = parts.flat();
  expect(new Set(all.map((each) => each.session_id))).toEqual(new Set([...ids, session_id]));
  const ends = all.map(({ ended_at }) => Date.parse(ended_at));
  expect(ends).toEqual(ends.toSorted((a, b) => b - a));
});

test('a cursor that is none of the list is invalid', async () => {
  const { user_id } = await newSession(fixture);
  const noDay = Buffer.from('2026-99-01T00:00:00.000Z').toString('base64url');
  for (const after of ['x', '', 'MjAyNg', noDay, 'a'.repeat(500)]) {
    for (const list of ['ended', 'messages', 'timeline']) {
      const { status, json } = await fixture.read(`/api/accounts/${user_id}/${list}?after=${after}`);
      expect([after, list, status, json.error.code]).toEqual([after, list, 400, 'invalid']);
    }
  }
});

test('ended sessions are read by indexes, and no more than a part and those that ended together', async () => {
  const { user_id } = await newSession(fixture);
  await insertEnded(
    user_id,
    Array.from({ length: 200 }, (_, index) => Date.now() - 10_000 - index),
  );
  await insertEnded(
    randomUUID(),
    Array.from({ length: 300 }, (_, index) => Date.now() - 10_000 - index),
  );
  const plans = await plansOf(fixture.monitored, fixture.db, () => fixture.read(`/api/accounts/${user_id}/ended`));
  expect(plans.map(({ stages }) => stages.has('COLLSCAN'))).toEqual(plans.map(() => false));
  expect(plans.length).toBeGreaterThan(3);
  expect(Math.max(...plans.map(({ examined }) => examined))).toBeLessThanOrEqual(21);
});
