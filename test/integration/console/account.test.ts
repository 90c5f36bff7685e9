import { OperationError } from '@auth-account/operations';
import { viewAccount } from '@auth-account/operations/views';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { logIn, newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { codeOf, requestChange, requestReset, requestVerification } from '../../support/api/codes.ts';
import { newInvite } from '../../support/api/invites.ts';
import { addPasskey, passkeySettings } from '../../support/api/passkeys.ts';
import { beginLogin, guardedAccount, orderRemoval, wrongCodeFor } from '../../support/api/second-factor.ts';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { authctl } from '../../support/processes/authctl.ts';
import { plansOf } from '../../support/stores/query-plans.ts';
import { openReadingFixture, type ReadingFixture } from './reading-fixture.ts';

let fixture: ReadingFixture;
beforeAll(async () => {
  fixture = await openReadingFixture({
    ...passkeySettings,
    TRUST_PROXY_HOPS: '1',
    LOGIN_ACCOUNT_FAILURES_PER_DAY: '3',
    LOGIN_ACCOUNT_FREE_FAILURES: '3',
  });
});
afterAll(() => fixture.close());

async function view(userId: string, role: 'viewer' | 'support' = 'viewer') {
  const { status, json } = await fixture.read(`/api/accounts/${userId}`, role);
  expect(status).toBe(200);
  return json;
}
/** A network of its own, which no account knows. */
const elsewhere = (host: number) => ({ 'X-Forwarded-For': `198.51.100.${host}` });
async function operate(...args: string[]): Promise<void> {
  const { exitCode } = await authctl([...args, '--reason', 'asked by phone', '--as', 'Olga'], fixture.options);
  expect(exitCode).toBe(0);
}

test('an account without obstacles says that its logins work, with its devices, ways in and dates', async () => {
  const account = await newSession(fixture, { device_name: 'Kitchen tablet', platform: 'ios' });
  const seen = await view(account.user_id);
  expect(seen).toMatchObject({
    user_id: account.user_id,
    email: 'c…@e….com',
    email_verified_at: null,
    verified_email_required: false,
    pending_email: null,
    group: { id: account.home_group_id, members: 1 },
    disabled: null,
    deletes_at: null,
    methods: { password: 'argon2id', passkeys: [], identities: [], second_factor: null, trusted_devices: 0 },
    limits: { known: true, wrong_passwords: 0, login_elsewhere_from: null },
    logins: { works: true, obstacles: [] },
    ended: { items: [], next: null },
    open_codes: [],
    invites: [],
  });
  expect(seen.sessions).toEqual([
    {
      session_id: account.session_id,
      device_id: account.device_id,
      device_name: 'Kitchen tablet',
      platform: 'ios',
      methods: ['pwd'],
      is_bound: false,
      created_at: expect.stringMatching(/Z$/),
      created_request_id: 'test-request-1',
      last_used_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
    },
  ]);
});

test('a login that is locked for unknown devices is told with the time of its end', async () => {
  const { email, user_id } = await newSession(fixture);
  for (let host = 0; host < 3; host += 1) await fixture.logIn({ email, password: 'wrong password' }, elsewhere(host));
  const refused = await fixture.logIn({ email, password }, elsewhere(9));
  expect(refused.status).toBe(429);
  const { logins, limits } = await view(user_id);
  const until = expect.stringMatching(/^20\d\d-.*Z$/);
  expect(logins).toEqual({ works: false, obstacles: [{ kind: 'locked_elsewhere', until }] });
  const waits = Number(refused.headers['retry-after']) * 1_000;
  expect(Date.parse(logins.obstacles[0].until) - Date.now()).toBeLessThanOrEqual(waits);
  expect(limits).toMatchObject({ wrong_passwords: 3, wrong_passwords_today: 3 });
});

test('a second factor that was tried too often is told with the time of the next try', async () => {
  const { email, secret, user_id } = await guardedAccount(fixture);
  const challenge_id = await beginLogin(fixture, email);
  const wrong = { challenge_id, method: 'totp', code: wrongCodeFor(secret) } as const;
  for (let host = 0; host < 5; host += 1) await fixture.confirmSecondFactor(wrong, elsewhere(host));
  const refused = await fixture.confirmSecondFactor(wrong, elsewhere(9));
  expect(refused.status).toBe(429);
  const { logins } = await view(user_id);
  expect(logins).toMatchObject({ works: false, obstacles: [{ kind: 'too_many_wrong_factors' }] });
  const waits = Date.parse(logins.obstacles[0].until) - Date.now();
  expect(waits).toBeLessThanOrEqual(Number(refused.headers['retry-after']) * 1_000);
});

test('a void password, a disabled account and an ordered deletion are obstacles, with who did it and why', async () => {
  const [voided, disabled, deleted] = [await newSession(fixture), await newSession(fixture), await newSession(fixture)];
  await operate('user', 'reset-password', voided.user_id, '--yes');
  await operate('user', 'disable', disabled.user_id);
  await fixture.scheduleDeletion({ current_password: password }, bearer(deleted));
  expect(await view(voided.user_id)).toMatchObject({
    methods: { password: 'void' },
    logins: { works: false, obstacles: [{ kind: 'password_void' }] },
    ended: { items: [{ reason: 'password_changed', session_id: voided.session_id }] },
  });
  expect(await view(disabled.user_id)).toMatchObject({
    disabled: { by: 'Olga', reason: 'asked by phone' },
    logins: { works: false, obstacles: [{ kind: 'disabled', reason: 'asked by phone' }] },
    ended: { items: [{ reason: 'account_disabled', operator: { name: 'Olga', reason: 'asked by phone' } }] },
  });
  const due = await view(deleted.user_id);
  expect(due).toMatchObject({ logins: { works: false }, ended: { items: [{ reason: 'account_deleted' }] } });
  expect(due.logins.obstacles).toEqual([{ kind: 'deletion_ordered', deletes_at: due.deletes_at }]);
});

test('factors are listed, and a removal that runs has its time and its origin', async () => {
  const account = await guardedAccount(fixture);
  expect((await view(account.user_id)).methods.second_factor).toMatchObject({ recovery_codes: 10, removal: null });
  const due = await orderRemoval(fixture, account.email);
  expect((await view(account.user_id)).methods.second_factor.removal).toEqual({
    due_at: due.toISOString(),
    by: 'mail',
  });
});

test('passkeys have their names and times, and no key', async () => {
  const session = await newSession(fixture);
  await addPasskey(fixture, session);
  const { methods } = await view(session.user_id);
  expect(Object.keys(methods.passkeys[0]).sort()).toEqual(['created_at', 'id', 'last_used_at', 'name']);
});

test('identities show whether their provider has disabled them or switched off their relay', async () => {
  const { user_id } = await newSession(fixture);
  const [linked, at] = [new Date(1_700_000_000_000), new Date(1_750_000_000_000)];
  const identity = { id: user_id, provider: 'apple', sub: 'sub-of-the-person', created_at: linked };
  const identities = [{ ...identity, disabled_at: at, relay_off_at: at }];
  await fixture.collections.users.updateOne({ _id: user_id }, { $set: { identities } });
  const { methods, logins } = await view(user_id);
  const times = { linked_at: linked.toISOString(), disabled_at: at.toISOString(), relay_off_at: at.toISOString() };
  expect(methods.identities).toEqual([{ id: user_id, provider: 'apple', ...times }]);
  expect(logins).toEqual({
    works: true,
    obstacles: [
      { kind: 'identity_disabled', provider: 'apple', at: at.toISOString() },
      { kind: 'relay_off', provider: 'apple', at: at.toISOString() },
    ],
  });
});

test('codes that still count are listed without the code, and a pending address is masked', async () => {
  const session = await newSession(fixture);
  await requestReset(fixture, session.email);
  await requestVerification(fixture, session);
  const challenge_id = await requestChange(fixture, session, `new-${newEmail()}`);
  const seen = await view(session.user_id);
  const purposes = seen.open_codes.map(({ purpose }: { readonly purpose: string }) => purpose);
  expect(purposes.toSorted()).toEqual(['email_change', 'email_verification', 'password_reset']);
  expect(seen.open_codes[0]).toEqual({
    purpose: expect.any(String),
    created_at: expect.any(String),
    expires_at: expect.any(String),
    tries_left: 5,
    resends_left: expect.any(Number),
    resend_at: expect.any(String),
  });
  expect(seen.pending_email).toEqual({ email: 'n…@e….com', until: expect.any(String) });
  expect(JSON.stringify(seen)).not.toContain(challenge_id);
});

test('invites have a name for staff instead of the token that lets one join', async () => {
  const session = await newSession(fixture);
  const token = await newInvite(fixture, session);
  const { invites } = await view(session.user_id);
  expect(invites).toMatchObject([{ group_id: session.home_group_id, uses: 0, state: 'good' }]);
  expect(invites[0].ref).toMatch(/^[0-9a-f]{16}$/);
  const { json: group } = await fixture.read(`/api/groups/${session.home_group_id}`);
  expect(group).toMatchObject({ invites, members: [{ user_id: session.user_id, email: 'c…@e….com' }] });
  expect(JSON.stringify([invites, group])).not.toContain(token);
});

test('only support sees the name of the person and, when asked for, the address', async () => {
  const session = await newSession(fixture);
  const display_name = '<img src=x onerror=alert(1)>';
  expect((await fixture.changeAccount({ display_name }, bearer(session))).status).toBe(200);
  expect((await view(session.user_id)).display_name).toBeNull();
  const seen = await view(session.user_id, 'support');
  expect(seen.display_name).toBe(display_name);
  expect(JSON.stringify(seen)).not.toContain(session.email);
  const address = await fixture.post(`/api/accounts/${session.user_id}/address`, {}, 'support');
  expect(address.json).toEqual({ email: session.email, pending_email: null });
  const route = fixture.routes.find(({ path }) => path.endsWith('/address'));
  expect(route).toMatchObject({ role: 'support', kind: 'looked_at' });
});

test('stored scripts in names of devices and groups pass through as plain text', async () => {
  const name = '</script><script>alert(1)</script>';
  const session = await newSession(fixture, { device_name: name });
  await fixture.renameGroup({ name }, bearer(session));
  const seen = await view(session.user_id);
  expect([seen.sessions[0].device_name, seen.group.name]).toEqual([name, name]);
});

test('an account is never found by its email address in the path', async () => {
  const { email } = await registerAccount(fixture);
  expect((await fixture.read(`/api/accounts/${encodeURIComponent(email)}`)).status).toBe(404);
});

test('without the counts of the limits an account says why, and what else it knows', async () => {
  const { user_id } = await registerAccount(fixture);
  const useCounts = () => Promise.reject(new OperationError('refused', 'SERVER_KEYS_FILE is not set.'));
  const seen = await viewAccount({ ...fixture.deps.mongo, ...fixture.deps, useCounts }, user_id, { hasName: false });
  expect(seen.limits).toEqual({ known: false, why: 'SERVER_KEYS_FILE is not set.' });
  expect(seen.logins).toEqual({ works: true, obstacles: [] });
});

test('the newest use of a device comes first', async () => {
  const account = await newSession(fixture, { device_name: 'first' });
  await logIn(fixture, account.email, { device_name: 'second' });
  const { sessions } = await view(account.user_id);
  expect(sessions.map(({ device_name }: { readonly device_name: string }) => device_name)).toEqual(['second', 'first']);
});

/** Texts of at least 16 characters in documents: tokens, hashes, seals, digests and bytes in each usual form. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length < 16 ? [] : [value];
  if (value instanceof Binary) return ['hex', 'base64', 'base64url'].map((form) => value.toString(form as 'hex'));
  if (value instanceof Date || typeof value !== 'object' || value === null) return [];
  // Ids of keys and requests are no secrets.
  const { kid: _, created_request_id: __, ...others } = value as Readonly<Record<string, unknown>>;
  return Object.values(others).flatMap(textsIn);
}

test('no answer has a token, hash, seed, code or address that the database holds', async () => {
  const account = await guardedAccount(fixture);
  await addPasskey(fixture, account).catch(() => undefined);
  await requestReset(fixture, account.email);
  await requestVerification(fixture, account);
  const invite = await newInvite(fixture, account);
  const { collections } = fixture;
  const [user, sessions, challenges, invites] = await Promise.all([
    collections.users.findOne({ _id: account.user_id }),
    collections.sessions.find({ user_id: account.user_id }).toArray(),
    collections.challenges.find({ user_id: account.user_id }).toArray(),
    collections.invites.find({ created_by: account.user_id }).toArray(),
  ]);
  const shown = new Set<string | null | undefined>([
    ...[account.user_id, account.home_group_id, ...(user?.passkeys ?? []).map(({ id }) => id)],
    ...sessions.flatMap(({ _id, device_id }) => [_id, device_id]),
  ]);
  const purposes = challenges.map(({ purpose }) => purpose as string);
  const codes = await Promise.all(challenges.map(({ _id }) => codeOf(fixture, _id)));
  const held = textsIn([user, sessions, challenges, invites]).filter(
    (text) => !shown.has(text) && !purposes.includes(text),
  );
  const secrets = [...held, ...codes, invite, account.refresh_token, account.access_token, account.secret];
  expect(secrets.length).toBeGreaterThan(20);
  const of = `/api/accounts/${account.user_id}`;
  const paths = [of, `${of}/ended`, `${of}/messages`, `${of}/timeline`, `/api/groups/${account.home_group_id}`];
  const events = await collections.outbox.find({ 'event.subject': account.user_id }).toArray();
  for (const path of [
    ...paths,
    ...events.map(({ _id }) => `/api/events/${_id}`),
    '/api/system',
    '/api/requests/test-request-1',
  ]) {
    const { status, text } = await fixture.read(path, path === of ? 'support' : 'viewer');
    expect([path, status]).toEqual([path, 200]);
    // The code of six digits may be part of an id or time by chance.
    const found = secrets.filter((secret) =>
      secret.length > 8 ? text.includes(secret) : text.includes(`"${secret}"`),
    );
    expect([path, found]).toEqual([path, []]);
  }
});

test('an account is shown by a bounded number of queries, each by an index, however much others have', async () => {
  const session = await newSession(fixture);
  const others = Array.from({ length: 300 }, () => ({
    ...newSessionDocument(),
    is_revoked: true,
    revoked_at: new Date(),
  }));
  await fixture.collections.sessions.insertMany(others);
  const plans = await plansOf(fixture.monitored, fixture.db, () => view(session.user_id));
  // Of the subscribers, which are few, all are read.
  expect(plans.filter(({ stages }) => stages.has('COLLSCAN'))).toMatchObject([{ examined: 1 }]);
  expect(plans.filter(({ stages }) => stages.has('SORT'))).toEqual([]);
  expect(plans.length).toBeLessThanOrEqual(10);
  expect(Math.max(...plans.map(({ examined }) => examined))).toBeLessThanOrEqual(1);
});
