import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort, startRedis } from '@auth-account/local-stack';
import { openForceLogoutQueue } from '@auth-account/messaging';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { logIn, newEmail, newSession, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { type AuthctlOptions, authctl, authctlJson, authctlProcess } from '../../support/processes/authctl.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { uniqueName } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
let env: Readonly<Record<string, string>>;
let options: AuthctlOptions;
beforeAll(async () => {
  fixture = await openOperatorFixture();
  env = fixture.options.env;
  options = { env };
});
afterAll(() => fixture.close());

type Step = { readonly what: string; readonly after_ms: number } & Readonly<Record<string, unknown>>;
const trace = async (requestId: string): Promise<Step[]> => (await authctlJson(['trace', requestId], options)).steps;
const whats = (steps: readonly Step[]) => steps.map(({ what }) => what);

/** Traces the request until the text appears. */
async function traceUntil(requestId: string, what: string): Promise<Step[]> {
  let steps: Step[] = [];
  await eventually(`the trace has: ${what}`, async () => {
    const run = await authctl(['trace', requestId, '--json'], options);
    steps = run.exitCode === 0 ? JSON.parse(run.stdout).steps : [];
    return whats(steps).includes(what);
  });
  return steps;
}

describe('user and sessions', () => {
  test('user show and sessions list find a user by id and by email, and print nothing that makes tokens or proves passwords', async () => {
    const phone = await newSession(fixture, { device_name: 'Phone of Ann', platform: 'ios' });
    const shown = await authctlJson(['user', 'show', phone.email.toUpperCase()], options);
    expect(shown).toMatchObject({ user_id: phone.user_id, email: phone.email, password: 'argon2id', live_sessions: 1 });
    expect(await authctlJson(['user', 'show', phone.user_id], options)).toEqual(shown);
    const list = ['sessions', 'list', '--user', phone.user_id];
    const { sessions } = await authctlJson(list, options);
    expect(sessions).toMatchObject([{ session_id: phone.session_id, state: 'live', platform: 'ios' }]);

    const session = await fixture.collections.sessions.findOne({ _id: phone.session_id });
    const user = await fixture.collections.users.findOne({ _id: phone.user_id });
    const runs = await Promise.all(
      [list, ['user', 'show', phone.email]].flatMap((args) => [
        authctl(args, options),
        authctl([...args, '--json'], options),
      ]),
    );
    const printed = runs.map(({ stdout }) => stdout).join('');
    expect(printed).toContain('Phone of Ann');
    for (const secret of [
      session?.token,
      session?.nonce.toString('base64'),
      user?.password_hash,
      phone.refresh_token,
    ]) {
      expect(printed).not.toContain(secret);
    }
  });

  test('sessions revoke ends one session by the worker, closes its stream with 4001, and leaves the others', async () => {
    const phone = await newSession(fixture);
    const tablet = await logIn(fixture, phone.email);
    const stream = await fixture.openStream(phone);
    const args = [
      'sessions',
      'revoke',
      phone.session_id,
      '--reason',
      'lost phone',
      '--request-id',
      `ops-${randomUUID()}`,
    ];
    const result = await authctlJson(args, options);
    expect(result).toEqual({ command_id: expect.any(String), request_id: args.at(-1), sessions: 1 });
    expect(await stream.closed).toMatchObject({ code: 4001, reason: 'SESSION_REVOKED' });
    const listed = await authctlJson(['sessions', 'list', '--user', phone.email, '--revoked-since', '1h'], options);
    const states = new Map(
      listed.sessions.map((one: { session_id: string; state: string }) => [one.session_id, one.state]),
    );
    expect(states).toEqual(
      new Map([
        [phone.session_id, 'revoked'],
        [tablet.session_id, 'live'],
      ]),
    );

    const steps = await traceUntil(result.request_id, 'stream closed');
    expect(whats(steps).toSorted()).toEqual([
      'forced logout done',
      'forced logout ordered',
      'session revoked',
      'stream closed',
    ]);
    expect(steps.find(({ what }) => what === 'stream closed')).toMatchObject({
      session_id: phone.session_id,
      code: 4001,
      since_decision_ms: expect.any(Number),
    });
    expect(steps.find(({ what }) => what === 'forced logout ordered')).toMatchObject({ why: 'lost phone' });
    const again = await authctl(args, options);
    expect(again).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('is revoked already') });
  });

  test('a session that another device has ended names its request, and the request the device', async () => {
    const phone = await newSession(fixture);
    const tablet = await logIn(fixture, phone.email, { device_name: 'Tablet of Ann', platform: 'android' });
    const watch = await logIn(fixture, phone.email);
    const named = (requestId: string) => ({ ...bearer(tablet), 'X-Request-ID': requestId });
    const { session_id } = phone;
    expect((await fixture.revokeSession({ session_id }, named(`end-${session_id}`))).status).toBe(200);
    const all = `end-all-${randomUUID()}`;
    const rest = await fixture.logOutAll({ except_current: true }, named(all));
    expect(rest.status).toBe(200);
    const listed = await authctl(['sessions', 'list', '--user', phone.email, '--revoked-since', '1h'], options);
    expect(listed.stdout).toMatch(/^SESSION .* ENDED +REASON +BY REQUEST$/m);
    expect(listed.stdout).toMatch(
      new RegExp(`^${phone.session_id} +revoked .* revoked_by_user +end-${phone.session_id}`, 'm'),
    );
    const by = {
      by_session: tablet.session_id,
      by_device: expect.any(String),
      by_device_name: 'Tablet of Ann',
      by_platform: 'android',
    };
    expect(await trace(`end-${phone.session_id}`)).toMatchObject([{ what: 'session revoked', ...by }]);
    expect(await trace(all)).toMatchObject([{ what: 'session revoked', session_id: watch.session_id, ...by }]);
  });

  test('user logout ends all sessions, as a process too', async () => {
    const phone = await newSession(fixture);
    const tablet = await logIn(fixture, phone.email);
    const run = await authctlProcess(['user', 'logout', phone.email, '--reason', 'account blocked'], env);
    expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Sessions ended: 2.'), stderr: '' });
    for (const { refresh_token } of [phone, tablet]) {
      const answer = await fixture.refreshTokens({ refresh_token });
      expect(answer.json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
    }
  });

  test.each([
    ['an unknown user', ['user', 'show', 'nobody@example.com'], 1, 'There is no user nobody@example.com'],
    ['an unknown user to log out', ['user', 'logout', randomUUID(), '--reason', 'x'], 1, 'There is no user'],
    ['an unknown session', ['sessions', 'revoke', randomUUID(), '--reason', 'x'], 1, 'There is no session'],
    ['an id that is none', ['sessions', 'revoke', 'x', '--reason', 'x'], 2, 'It must be a UUID'],
    ['no reason', ['user', 'logout', 'x@example.com'], 2, "required option '--reason <text>'"],
  ])('a command with %s fails and says why', async (_case, args, exitCode, why) => {
    const run = await authctl(args, options);
    expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(why) });
  });
});

test('commands list and show print what was ordered, by whom, and how it ended', async () => {
  const phone = await newSession(fixture);
  const logout = ['user', 'logout', phone.user_id, '--reason', 'reported abuse'];
  const { command_id } = await authctlJson(logout, options);
  expect(await authctlJson(['commands', 'show', command_id], options)).toMatchObject({
    id: command_id,
    state: 'done',
    target: `user ${phone.user_id}`,
    reason: 'reported abuse',
    sessions: 1,
    is_repeat: false,
    error: null,
  });

  const redis = new Redis(env.REDIS_URL ?? '', { ...failFastOptions(), enableOfflineQueue: true });
  const queue = openForceLogoutQueue(redis, redisKeys(fixture.keyPrefix));
  const malformed = `malformed-${randomUUID()}`;
  try {
    await queue.add('by-hand', { secret: 'hunter2' } as never, { jobId: malformed });
    await eventually('it has failed', async () => (await queue.getJobState(malformed)) === 'failed');
  } finally {
    await queue.close();
    redis.disconnect();
  }
  const failed = await authctl(['commands', 'list', '--state', 'failed', '--json'], options);
  expect(JSON.parse(failed.stdout).commands).toMatchObject([{ id: malformed, state: 'failed', target: null }]);
  expect(failed.stdout).not.toContain('hunter2');
  const all = await authctl(['commands', 'list'], options);
  for (const id of [command_id, malformed]) expect(all.stdout).toContain(id);
  expect(await authctl(['commands', 'show', 'none'], options)).toMatchObject({ exitCode: 1, stdout: '' });
});

describe('trace', () => {
  test('trace follows a registration from its transaction to each delivery', async () => {
    const requestId = `register-${randomUUID()}`;
    const body = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
    const { json } = await fixture.registerAccount(body, { 'X-Request-ID': requestId });
    const steps = await traceUntil(requestId, 'event delivered');
    expect(whats(steps)).toEqual(['account created', 'group created', 'outbox row written', 'event delivered']);
    expect(steps[0]).toMatchObject({ user_id: json.data.user_id, after_ms: 0 });
    expect(steps[1]).toMatchObject({ home_group_id: json.data.home_group_id, account_type: 'HOME' });
    expect(steps[3]).toMatchObject({ subscriber: 'analytics', status: 204, duration_ms: expect.any(Number) });
    expect((await authctl(['trace', requestId], options)).stdout).toMatch(/\+0 ms +account created +user_id=/);
  });

  test('trace follows a login, and a logout from the revocation to the close frame', async () => {
    const account = await newSession(fixture);
    const [loginId, logoutId] = [`login-${randomUUID()}`, `logout-${randomUUID()}`];
    const credentials = { email: account.email, password };
    const login = await fixture.logIn(credentials, { 'X-Request-ID': loginId });
    const { session_id, access_token, refresh_token } = login.json.data;
    expect(await trace(loginId)).toMatchObject([{ what: 'session created', session_id, user_id: account.user_id }]);

    const stream = await fixture.openStream(login.json.data);
    const headers = { 'X-Request-ID': logoutId, ...bearer(access_token) };
    await fixture.logOut({ refresh_token }, headers);
    await stream.closed;
    const steps = await traceUntil(logoutId, 'stream closed');
    expect(steps).toMatchObject([
      { what: 'session revoked', session_id, reason: 'logout' },
      { what: 'stream closed', session_id, code: 1000, reason: 'LOGOUT_CONFIRMED' },
    ]);
  });

  test('trace of a request that left nothing, or is older than --since, ends with exit code 1', async () => {
    const unknown = await authctl(['trace', randomUUID()], options);
    expect(unknown).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('Nothing is stored') });
    const requestId = `login-${randomUUID()}`;
    const { email } = await newSession(fixture);
    await fixture.logIn({ email, password }, { 'X-Request-ID': requestId });
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await authctl(['trace', requestId, '--since', later], options)).toMatchObject({ exitCode: 1 });
  });
});

describe('doctor', () => {
  type Check = { readonly check: string; readonly status: string; readonly detail?: string; readonly fix?: string };
  const byName = (checks: readonly Check[]) => new Map(checks.map((check) => [check.check, check]));

  test('doctor finds a running stack well, as a process', async () => {
    const run = await authctlProcess(['doctor', '--json'], env);
    const { ok, checks } = JSON.parse(run.stdout);
    expect(checks.filter(({ status }: Check) => status !== 'ok')).toEqual([]);
    expect([ok, run.exitCode, run.stderr]).toEqual([true, 0, '']);
    expect(checks.length).toBeGreaterThan(15);
  });

  test('doctor names what is wrong and how to repair it: indexes, eviction, the deny list, key files', async () => {
    const folder = await openGuardedFolder('doctor');
    // A server of its own, because the test spoils the settings.
    const server = await startRedis({ dir: join(folder.dir, 'redis'), log: () => undefined, onSpawn: folder.watch });
    const redis = new Redis(server.url);
    const mongo = new MongoClient(env.MONGODB_URI ?? '');
    const db = mongo.db(uniqueName());
    try {
      await db.collection('users').createIndex({ email_key: 1 }, { name: 'email_key_unique' });
      await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await redis.config('SET', 'appendonly', 'no');
      const file = join(folder.dir, 'keys.json');
      await writeFile(file, 'no JSON', { mode: 0o644 });
      const broken = {
        ...env,
        REDIS_URL: server.url,
        MONGODB_DATABASE: db.databaseName,
        KEY_PREFIX: uniqueName(),
        ACCESS_TOKEN_KEYS_FILE: file,
      };
      const { ok, checks } = await authctlJson(['doctor'], { env: broken }, 1);
      const found = byName(checks);
      expect(ok).toBe(false);
      for (const name of ['mongodb indexes', 'redis maxmemory-policy', 'redis deny list', 'access keys']) {
        expect(found.get(name)).toMatchObject({ status: 'failed', fix: expect.any(String) });
      }
      const { detail } = found.get('mongodb indexes') ?? {};
      expect(detail).toContain('users.email_key_unique different');
      expect(detail).toContain('users.group_members_by_age missing');
      expect(found.get('redis append-only file')).toMatchObject({ status: 'warning', fix: expect.any(String) });
      const secret = await authctl(['doctor'], { env: { ...env, ACCESS_TOKEN_KEYS_FILE: env.SERVER_KEYS_FILE } });
      expect(secret.stdout).toMatch(/failed +access keys .*does not fit ES256 or EdDSA/);
    } finally {
      redis.disconnect();
      await server.kill();
      await db.dropDatabase();
      await mongo.close();
      await folder.close();
    }
  });

  test('doctor names every variable that is missing at once, with exit code 78', async () => {
    const { ok, checks } = await authctlJson(['doctor'], { env: {} }, 78);
    const found = byName(checks);
    expect(ok).toBe(false);
    for (const name of ['variable MONGODB_URI', 'variable REDIS_URL']) {
      expect(found.get(name)).toMatchObject({ status: 'failed', fix: expect.any(String) });
    }
    expect(found.get('access keys')).toMatchObject({ status: 'warning' });
  });

  test('doctor warns of what does not stop anything, with exit code 0', async () => {
    const { SERVER_KEYS_FILE: _, ...others } = env;
    const { ok, checks } = await authctlJson(['doctor'], { env: others });
    expect(ok).toBe(true);
    expect(byName(checks).get('server keys')).toMatchObject({ status: 'warning' });
  });
});

describe('a store that is away, and other failures', () => {
  test('if a store is away, commands end with 69 and name it, doctor ends with 1, and trace shows what is known', async () => {
    const port = await findFreePort();
    const noMongo = { env: { ...env, MONGODB_URI: `mongodb://user:hunter2@127.0.0.1:${port}/?directConnection=true` } };
    const noRedis = { env: { ...env, REDIS_URL: `redis://:hunter2@127.0.0.1:${port}` } };
    const phone = await newSession(fixture);
    const requestId = `login-${randomUUID()}`;
    await fixture.logIn({ email: phone.email, password }, { 'X-Request-ID': requestId });
    const [show, commands, logout, traced, doctor] = await Promise.all([
      authctl(['user', 'show', phone.email], noMongo),
      authctl(['commands', 'list'], noRedis),
      authctl(['user', 'logout', phone.email, '--reason', 'x', '--json'], noRedis),
      authctl(['trace', requestId, '--json'], noRedis),
      authctl(['doctor', '--json'], { env: { ...noMongo.env, REDIS_URL: noRedis.env.REDIS_URL } }),
    ]);
    expect(show).toMatchObject({ exitCode: 69, stdout: '', stderr: expect.stringContaining('authctl: MongoDB: ') });
    expect(commands).toMatchObject({
      exitCode: 69,
      stdout: '',
      stderr: expect.stringContaining('Redis cannot be reached'),
    });
    expect(JSON.parse(logout.stderr)).toMatchObject({ error: { exit_code: 69 } });
    expect(traced.exitCode).toBe(69);
    expect(JSON.parse(traced.stdout)).toMatchObject({
      steps: [{ what: 'session created' }],
      gaps: [expect.stringContaining('closed streams')],
    });
    expect(doctor.exitCode).toBe(1);
    const { checks } = JSON.parse(doctor.stdout);
    expect(checks.filter(({ status }: { status: string }) => status === 'failed')).toMatchObject([
      { check: 'mongodb reachable', fix: expect.any(String) },
      { check: 'redis reachable', fix: expect.any(String) },
    ]);
    const printed = [show, commands, logout, traced, doctor].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(printed).not.toContain('hunter2');
  });

  test('missing variables end a command with exit code 78, all of them at once', async () => {
    const run = await authctl(['user', 'show', 'a@example.com'], { env: { MONGODB_DATABASE: '' } });
    expect(run).toMatchObject({ exitCode: 78, stdout: '', stderr: expect.stringContaining('MONGODB_URI') });
  });

  test('an order that no worker carries out in time ends with exit code 69, and stays to be seen', async () => {
    const phone = await newSession(fixture);
    await fixture.worker.close();
    const args = ['sessions', 'revoke', phone.session_id, '--reason', 'x', '--timeout', '1s'];
    const run = await authctl(args, options);
    const [, id = ''] = /Command (\S+) was ordered, but not carried out within 1 s/.exec(run.stderr) ?? [];
    expect(run).toMatchObject({ exitCode: 69, stdout: '' });
    expect(await authctlJson(['commands', 'show', id], options)).toMatchObject({ state: 'waiting', sessions: null });
  });
});
