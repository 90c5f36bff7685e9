import { randomUUID } from 'node:crypto';
import { compose } from '@auth-account/api/compose';
import { apiConfig } from '@auth-account/api/config';
import { loadConfig } from '@auth-account/config';
import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import { createLogger, createMetrics } from '@auth-account/telemetry';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { logIn, newEmail, newSession, password } from '../../support/api/accounts.ts';
import { bearer, drive } from '../../support/api/api-driver.ts';
import { accept, insertInvite, joinByInvite, leave, removeMember } from '../../support/api/groups.ts';
import { patient } from '../../support/api/test-api.ts';
import { type Answer, type SentRequest, send } from '../../support/http-client.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { cheapHashes, testEnvironment, uniqueName } from '../../support/test-environment.ts';

type Line = Readonly<Record<string, unknown>>;

const lines: Line[] = [];
const name = uniqueName();
const mongo = new MongoClient(testEnvironment().mongodbUri);
const metrics = createMetrics({ service: 'api' });
let time = Date.now();
let base: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  await ensureIndexes(mongo.db(name));
  const settings = { API_PORT: '0', TRUST_PROXY_HOPS: '1', REFRESH_LIMIT_PER_ADDRESS: '50' };
  const env = { ...serviceEnvironment(name), ...cheapHashes, ...settings };
  const config = loadConfig(apiConfig, { env });
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  // The audit log is written even if the log's level is `error`.
  const logger = createLogger({ service: 'api', level: 'error', destination });
  const api = await compose({ config, logger, metrics }, { now: () => time, waits: patient });
  await api.start();
  base = `http://127.0.0.1:${api.address().port}`;
  stop = async () => {
    for (const step of api.shutdown) await step.run();
  };
});
beforeEach(() => void lines.splice(0));
afterAll(async () => {
  await stop();
  await mongo.db(name).dropDatabase();
  await mongo.close();
});

let requestNumber = 0;
function ask(request: SentRequest): Promise<Answer> {
  requestNumber += 1;
  const headers = {
    'Content-Type': 'application/json',
    'X-Request-ID': `request-${requestNumber}`,
    'X-Forwarded-For': '203.0.113.77',
  };
  return send(base, { ...request, headers: { ...headers, ...request.headers } });
}

const api = drive(ask);
const refresh = (refresh_token: string) => api.refreshTokens({ refresh_token });

/** Returns the audit lines since the last call, without the fields that every line has. */
function takeEvents(): Line[] {
  return lines.splice(0).map(({ level, time: at, service, audit, msg, request_id, address, ...event }) => {
    expect({ level, at, service, audit, msg, request_id, address }).toEqual({
      level: 'info',
      at: expect.any(String),
      service: 'api',
      audit: true,
      msg: 'audit',
      request_id: `request-${requestNumber}`,
      address: '203.0.113.0/24',
    });
    return event;
  });
}

const counterOf = async (metric: string, labels: Record<string, string>) =>
  (await metrics.registry.getSingleMetric(metric)?.get())?.values.find(({ labels: found }) =>
    Object.entries(labels).every(([label, value]) => found[label as keyof typeof found] === value),
  )?.value ?? 0;

test('a registration is one audit event, and its replay is none', async () => {
  const key = { 'Idempotency-Key': randomUUID() };
  const body = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
  const { json } = await api.registerAccount(body, key);
  expect(takeEvents()).toEqual([{ event: 'account.registered', outcome: 'success', user_id: json.data.user_id }]);
  expect((await api.registerAccount(body, key)).headers['idempotency-replayed']).toBe('true');
  expect(takeEvents()).toEqual([]);
});

test('a refusal by a limit is an audit event that names the rule', async () => {
  const email = newEmail();
  for (let i = 0; i < 5; i += 1) await api.logIn({ email, password });
  lines.splice(0);
  const labels = { rule: 'login_source' };
  const before = await counterOf('auth_rate_limited_total', labels);
  expect((await api.logIn({ email, password })).status).toBe(429);
  const account = expect.stringMatching(/^[\w-]{22}$/);
  expect(takeEvents()).toEqual([{ event: 'limit.exceeded', outcome: 'failure', reason: 'login_source', account }]);
  expect(await counterOf('auth_rate_limited_total', labels)).toBe(before + 1);
});

// guarantees: audit-complete
test('every way to end a session is an audit event for each session', async () => {
  const here = await newSession(api);
  const { user_id, session_id, access_token } = here;
  const [second, third, fourth] = [
    await logIn(api, here.email),
    await logIn(api, here.email),
    await logIn(api, here.email),
  ];
  lines.splice(0);
  const headers = bearer(access_token);
  await api.revokeSession({ session_id: second.session_id }, headers);
  const revoked = { event: 'session.revoked', outcome: 'success', user_id, reason: 'revoked_by_user' };
  expect(takeEvents()).toEqual([{ ...revoked, session_id: second.session_id }]);

  await api.logOutAll({ except_current: true }, headers);
  const all = { event: 'logout.all', outcome: 'success', user_id, session_id };
  const [first, ...others] = takeEvents();
  expect(first).toEqual(all);
  expect(new Set(others)).toEqual(
    new Set([third, fourth].map((each) => ({ ...revoked, session_id: each.session_id }))),
  );

  const { refresh_token } = here;
  await api.logOut({ refresh_token }, headers);
  expect(takeEvents()).toEqual([{ event: 'logout.succeeded', outcome: 'success', user_id, session_id }]);
  await api.logOut({ refresh_token }, headers);
  expect(takeEvents()).toEqual([]);
});

// guarantees: restore-is-audited
test('an order to delete the account is an audit event, as are the ends of its sessions and its restore', async () => {
  const { email, user_id, session_id, access_token } = await newSession(api);
  lines.splice(0);
  const body = { current_password: password };
  await api.scheduleDeletion(body, bearer(access_token));
  const ids = { outcome: 'success', user_id, session_id };
  expect(takeEvents()).toEqual([
    { event: 'account.deletion_scheduled', ...ids },
    { event: 'session.revoked', ...ids, reason: 'account_deleted' },
  ]);
  const verified = () => counterOf('auth_logins_total', { outcome: 'verified' });
  const before = await verified();
  const right = { event: 'login.verified', outcome: 'success', user_id };
  await api.restoreAccount({ email, password });
  expect(takeEvents()).toEqual([right, { event: 'account.deletion_cancelled', outcome: 'success', user_id }]);
  // A right password is logged even if there is nothing to restore.
  await api.restoreAccount({ email, password });
  expect([takeEvents(), await verified()]).toEqual([[right], before + 2]);
  await api.restoreAccount({ email, password: 'wrong password' });
  expect(takeEvents()).toEqual([{ event: 'login.failed', outcome: 'failure', user_id, reason: 'wrong_password' }]);
});

test('an invite that is created or revoked is an audit event, but its replay or second revocation is none', async () => {
  const { user_id, session_id, home_group_id, access_token } = await newSession(api);
  lines.splice(0);
  const headers = { ...bearer(access_token), 'Idempotency-Key': randomUUID() };
  const { json } = await api.createInvite({}, headers);
  const event = { outcome: 'success', user_id, session_id, home_group_id };
  expect(takeEvents()).toEqual([{ event: 'invite.created', ...event }]);
  await api.createInvite({}, headers);
  expect(takeEvents()).toEqual([]);
  await api.revokeInvite({ token: json.data.invite_token }, bearer(access_token));
  expect(takeEvents()).toEqual([{ event: 'invite.revoked', ...event }]);
  await api.revokeInvite({ token: json.data.invite_token }, bearer(access_token));
  expect(takeEvents()).toEqual([]);
});

test('a change of group is an audit event, and so is what follows for the group that was left', async () => {
  const stack = { ...api, collections: collectionsOf(mongo.db(name)) };
  const [owner, otherUser] = [await newSession(api), await newSession(api)];
  const { home_group_id } = owner;
  const invite = await insertInvite(stack, home_group_id);
  const member = await joinByInvite(stack, invite);
  lines.splice(0);

  await accept(stack, otherUser, invite);
  const { user_id, session_id } = otherUser;
  const outcome = 'success';
  expect(takeEvents()).toEqual([
    { event: 'group.left', outcome, user_id, session_id, home_group_id: otherUser.home_group_id },
    { event: 'group.joined', outcome, user_id, session_id, home_group_id },
    { event: 'group.closed', outcome, user_id, home_group_id: otherUser.home_group_id },
  ]);
  await removeMember(stack, owner, user_id);
  expect(takeEvents()).toEqual([
    {
      event: 'group.removed',
      outcome,
      user_id,
      session_id: owner.session_id,
      home_group_id,
      removed_by: owner.user_id,
    },
    { event: 'invite.revoked', outcome, user_id: owner.user_id, session_id: owner.session_id, home_group_id },
  ]);
  await leave(stack, owner);
  expect(takeEvents()).toEqual([
    { event: 'group.left', outcome, user_id: owner.user_id, session_id: owner.session_id, home_group_id },
    { event: 'group.owner_changed', outcome, user_id: member.user_id, home_group_id },
  ]);
  await leave(stack, member);
  expect(takeEvents()).toEqual([
    { event: 'group.left', outcome, user_id: member.user_id, session_id: member.session_id, home_group_id },
    { event: 'group.closed', outcome, user_id: member.user_id, home_group_id },
  ]);
  await removeMember(stack, member, owner.user_id);
  expect(takeEvents().map(({ event }) => event)).toEqual(['authorization.failed']);
});

test('a change of an account is an audit event, and so is a wrong password', async () => {
  const phone = await newSession(api);
  const { user_id, session_id } = phone;
  const headers = bearer(phone.access_token);
  const success = { outcome: 'success', user_id, session_id };
  lines.splice(0);

  await api.changeAccount({ display_name: 'Anna' }, headers);
  expect(takeEvents()).toEqual([{ event: 'account.changed', ...success }]);

  const failed = () => counterOf('auth_authorization_failures_total', { code: 'ERR-REAUTHENTICATION-FAILED' });
  const before = await failed();
  await api.exportAccount({ current_password: 'wrong password' }, headers);
  const failure = { outcome: 'failure', user_id, session_id };
  const route = '/api/v1/account/export';
  expect(takeEvents()).toEqual([
    { event: 'reauthentication.failed', ...failure },
    { event: 'authorization.failed', ...failure, reason: 'ERR-REAUTHENTICATION-FAILED', route },
  ]);
  expect(await failed()).toBe(before + 1);
});

test('a group that gets a name or another owner is an audit event', async () => {
  const stack = { ...api, collections: collectionsOf(mongo.db(name)) };
  const owner = await newSession(api);
  const { home_group_id, session_id, user_id } = owner;
  const heir = await joinByInvite(stack, await insertInvite(stack, home_group_id));
  const headers = bearer(owner.access_token);
  lines.splice(0);
  await api.renameGroup({ name: 'Garden Street' }, headers);
  const shared = { outcome: 'success', session_id, home_group_id };
  expect(takeEvents()).toEqual([{ event: 'group.renamed', ...shared, user_id }]);
  await api.handOverGroup({ user_id }, headers);
  expect(takeEvents()).toEqual([]);
  await api.handOverGroup({ user_id: heir.user_id }, headers);
  expect(takeEvents()).toEqual([
    { event: 'group.owner_changed', ...shared, user_id: heir.user_id, handed_over_by: user_id },
  ]);
});

// guarantees: audit-complete
test('no audit line contains a token, a password, an email address or a whole network address', async () => {
  const session = await newSession(api);
  await api.logIn({ email: session.email, password: 'wrong password' });
  time += 1_000;
  await refresh(session.refresh_token);
  const text = JSON.stringify(lines);
  expect(lines.length).toBeGreaterThan(3);
  for (const secret of [session.access_token, session.refresh_token, password, 'wrong password', '@', '203.0.113.77']) {
    expect([secret, text.includes(secret)]).toEqual([secret, false]);
  }
});
