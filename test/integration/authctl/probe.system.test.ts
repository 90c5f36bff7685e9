import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { findFreePort } from '@auth-account/local-stack';
import { redisKeys } from '@auth-account/redis';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logIn, newEmail, password, registerAccount } from '../../support/api/accounts.ts';
import { listen } from '../../support/listen.ts';
import { authctl, authctlJson, authctlProcess } from '../../support/processes/authctl.ts';
import { startProbe, untilRuns } from '../../support/processes/probe-process.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { countStored, type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
let env: Record<string, string>;
/** A port on which nothing listens. */
let deadPort: number;
beforeAll(async () => {
  fixture = await openOperatorFixture();
  const { MONGODB_URI = '', MONGODB_DATABASE = '' } = fixture.options.env;
  env = { MONGODB_URI, MONGODB_DATABASE, PROBE_API_URL: fixture.apiUrl, BIND_ADDRESS: '127.0.0.1' };
  deadPort = await findFreePort();
});
afterAll(() => fixture.close());

const stored = () => countStored(fixture);

// What a test has left must not be found by the next one.
afterEach(async () => {
  const { subscribers: _, upgrades: __, ...collections } = fixture.collections;
  await Promise.all(Object.values(collections).map((collection) => collection.deleteMany({})));
});

const steps = (...names: string[]) => names.map((step) => ({ step, ok: true, ms: expect.any(Number) }));
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const probeEmail = () => `probe-${randomUUID()}@probe.invalid`;

describe('one run of probe', () => {
  test('probe walks the whole path, reports how long the close took, and leaves nothing in the database', async () => {
    const run = await authctlProcess(['probe', '--json'], env);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    const report = JSON.parse(run.stdout);
    expect(report).toEqual({
      ok: true,
      request_id: expect.stringMatching(/^auth-probe-/),
      steps: steps('register', 'login', 'open', 'logout', 'close'),
      close: { since_request_ms: expect.any(Number), since_answer_ms: expect.any(Number) },
      clean_up: { outcome: 'done', leftovers: 0 },
    });
    expect(report.close.since_request_ms).toBeGreaterThan(0);
    expect(report.close.since_request_ms).toBeGreaterThan(report.close.since_answer_ms);
    expect(await stored()).toEqual({});
    // Subscribers got the event, and can recognize the probe by the request id.
    expect(fixture.receiver.received.map(({ event }) => event.requestid)).toContain(report.request_id);
  });

  test('probe prints a table for people, without password or token', async () => {
    const run = await authctl(['probe'], { env });
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.stdout).toMatch(/^STEP +RESULT +MS +FAULT\nregister +ok/);
    expect(run.stdout).toContain('Cleaned up.');
    expect(run.stdout).not.toMatch(/eyJ|@probe\.invalid/);
  });

  test('probe says so if it has no database to clean up in', async () => {
    const { MONGODB_URI: _, ...blind } = env;
    const run = await authctl(['probe'], { env: blind });
    expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('what the run has made stays') });
    expect(await stored()).toMatchObject({ users: 1, groups: 1, sessions: 1 });
    const user = await fixture.collections.users.findOneAndUpdate({}, { $set: { created_at: hoursAgo(2) } });
    expect(user?.email).toMatch(/^probe-[0-9a-f-]{36}@probe\.invalid$/);
    await eventually('the event is delivered', async () => {
      return (await fixture.collections.outbox.countDocuments({ state: 'delivered' })) === 1;
    });
    // The next run removes what an earlier run has left.
    expect(await authctlJson(['probe'], { env })).toMatchObject({ clean_up: { outcome: 'done', leftovers: 1 } });
    expect(await stored()).toEqual({});
  });

  test('probe uses an account that is there, and removes only its own session', async () => {
    const account = await registerAccount(fixture);
    const phone = await logIn(fixture, account.email);
    const options = { env: { ...env, PROBE_PASSWORD: password } };
    const report = await authctlJson(['probe', '--email', account.email], options);
    expect(report).toMatchObject({ ok: true, steps: steps('login', 'open', 'logout', 'close') });
    expect(await fixture.collections.sessions.distinct('_id')).toEqual([phone.session_id]);
    expect(await fixture.collections.users.distinct('email')).toEqual([account.email]);
  });
});

describe('a system that is not well', () => {
  test('a gateway that is down ends the probe with 1 at its step, and the account is removed all the same', async () => {
    const run = await authctl(['probe', '--push-url', `ws://127.0.0.1:${deadPort}`, '--json'], { env });
    expect(run).toMatchObject({ exitCode: 1, stderr: '' });
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: false,
      steps: [...steps('register', 'login'), { step: 'open', ok: false, fault: 'no stream: ECONNREFUSED' }],
      close: null,
      clean_up: { outcome: 'done' },
    });
    expect(await stored()).toEqual({});
  });

  test('probe distinguishes a gateway that refuses from one that never answers', async () => {
    const refusing = await authctlJson(['probe', '--push-url', fixture.apiUrl.replace('http', 'ws')], { env }, 1);
    expect(refusing.steps.at(-1)).toMatchObject({ step: 'open', fault: 'the handshake was answered 404' });
    const timers = jest.spyOn(globalThis, 'setTimeout');
    // The step's time is over as soon as the handshake has arrived.
    const silent = createServer((_request, _response) => undefined).on('upgrade', () => {
      const calls: readonly unknown[][] = timers.mock.calls;
      const [giveUp, , reason] = calls.findLast(([, ms]) => ms === 59_000) ?? [];
      (giveUp as (reason: unknown) => void)(reason);
    });
    await withServer(silent, async (port) => {
      const args = ['probe', '--push-url', `ws://127.0.0.1:${port}`, '--timeout', '59s'];
      const waiting = await authctlJson(args, { env }, 1);
      expect(waiting.steps.at(-1)).toMatchObject({ step: 'open', fault: 'nothing within 59 s' });
    });
    expect(await stored()).toEqual({});
  });

  test.each([
    [503, 'answered 503 ERR-OVERLOADED', '{"error_code":"ERR-OVERLOADED"}'],
    [502, 'answered 502', '<html>secret</html>'],
    [201, "not of the contract's form: /data", '{"status":"success","data":{"user_id":7}}'],
  ])('an api that answers %i is reported as "%s"', async (status, fault, body) => {
    const server = createServer((request, response) => {
      response.writeHead(status, { 'X-Request-ID': request.headers['x-request-id'] }).end(body);
    });
    const report = await withServer(server, (port) =>
      authctlJson(['probe', '--api-url', `http://127.0.0.1:${port}`], { env }, 1),
    );
    expect(report).toMatchObject({ ok: false, close: null, clean_up: { outcome: 'done' } });
    expect(report.steps).toEqual([
      { step: 'register', ok: false, ms: expect.any(Number), fault: expect.stringContaining(fault) },
    ]);
  });

  test('a probe without an api whose database lets nobody in reports both, with exit code 1', async () => {
    const locked = { ...env, MONGODB_URI: env.MONGODB_URI?.replace('://', '://nobody:wrong@') };
    const args = ['probe', '--api-url', `http://127.0.0.1:${deadPort}`];
    const report = await authctlJson(args, { env: locked }, 1);
    expect(report.steps).toMatchObject([{ step: 'register', fault: 'no answer: ECONNREFUSED' }]);
    expect(report.clean_up).toMatchObject({
      outcome: 'failed',
      fault: expect.stringContaining('Authentication failed'),
    });
  });

  test.each([
    ['no api', ['probe'], { PROBE_API_URL: '' }, 78, '--api-url'],
    ['an account without its password', ['probe', '--email', newEmail()], {}, 78, 'PROBE_PASSWORD'],
    ['a URL that is none', ['probe', '--push-url', 'http://x'], {}, 2, 'wss'],
    ['an interval of nothing', ['probe', '--interval', '0'], {}, 2, 'a second at least'],
  ])('probe with %s ends at once and says why', async (_case, args, more, exitCode, why) => {
    const run = await authctl(args, { env: { ...env, ...more } });
    expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(why) });
  });
});

/** Runs the work while the server listens on a port of 127.0.0.1. */
async function withServer<T>(server: Server, work: (port: number) => Promise<T>): Promise<T> {
  const { port, close } = await listen(server);
  return await work(port).finally(close);
}

describe('what earlier probes have left', () => {
  test('what earlier probes have left goes after an hour, and nothing else does', async () => {
    const { users, groups, outbox, deadLetters } = fixture.collections;
    const [left, young, lookalike, shared] = await Promise.all(
      [probeEmail(), probeEmail(), `probe-me@probe.invalid`, probeEmail()].map((email) =>
        registerAccount(fixture, email),
      ),
    );
    if (!left || !young || !lookalike || !shared) throw new Error('four accounts were registered');
    const old = [left, lookalike, shared].map(({ user_id }) => user_id);
    await users.updateMany({ _id: { $in: old } }, { $set: { created_at: hoursAgo(2) } });
    await groups.updateOne({ _id: shared.home_group_id }, { $inc: { member_count: 1 } });
    expect(await authctlJson(['probe'], { env })).toMatchObject({ clean_up: { outcome: 'done', leftovers: 1 } });
    const kept = [young, lookalike, shared];
    expect(new Set(await users.distinct('_id'))).toEqual(new Set(kept.map(({ user_id }) => user_id)));
    expect(new Set(await groups.distinct('_id'))).toEqual(new Set(kept.map(({ home_group_id }) => home_group_id)));

    // The accounts' own events stay, because their request id is no probe's. Of the probes' events, only finished ones
    // are removed.
    const [row] = await outbox.find({ 'event.subject': young.user_id }).toArray();
    if (!row) throw new Error('there is no event');
    const rowOf = (name: string, subject: string, state: 'dead' | 'pending', created_at = hoursAgo(2)) => {
      const event = { ...row.event, id: name, subject, requestid: `auth-probe-${name}` };
      return { ...row, _id: name, event, state, created_at, locked_until: hoursAgo(-2) };
    };
    await outbox.insertMany([
      rowOf('over', randomUUID(), 'dead'),
      rowOf('under way', randomUUID(), 'pending'),
      rowOf('of an account', young.user_id, 'dead'),
      rowOf('young', randomUUID(), 'dead', new Date()),
    ]);
    const letter = { subscriber: 'analytics', topic: row.topic, event: row.event, last_error: '', attempts: 1 };
    const times = { first_attempt_at: new Date(), last_attempt_at: new Date(), created_at: new Date() };
    await deadLetters.insertMany(
      ['over', 'of an account'].map((id) => ({ _id: id, event_id: id, ...letter, ...times, attempt_log: [] })),
    );
    expect(await authctlJson(['probe'], { env })).toMatchObject({ clean_up: { leftovers: 1 } });
    const ofProbes = await outbox.distinct('_id', { 'event.requestid': /^auth-probe-/ });
    expect(ofProbes.toSorted()).toEqual(['of an account', 'under way', 'young']);
    expect(await deadLetters.distinct('_id')).toEqual(['of an account']);
  });
});

/** Returns the number of accounts for which the api remembers devices and networks. */
async function countKnownAccounts(): Promise<number> {
  const redis = new Redis(fixture.options.env.REDIS_URL ?? '');
  try {
    return (await redis.keys(`${redisKeys(fixture.keyPrefix).limit('login-known')}:*`)).length;
  } finally {
    redis.disconnect();
  }
}

describe('probe --interval', () => {
  test('probe --interval exports what the alerts ask for, well and not well, and ends in order with nothing left', async () => {
    // A slow machine must fail no step.
    const patient = ['--timeout', '60s'];
    const begun = Date.now() / 1_000;
    const before = await countKnownAccounts();
    const [well, unwell] = await Promise.all([
      startProbe(env, patient),
      startProbe(env, [...patient, '--push-url', `ws://127.0.0.1:${deadPort}`]),
    ]);
    await Promise.all([untilRuns(well, 'success', 2), untilRuns(unwell, 'failure', 2)]);
    for (const path of ['/livez', '/readyz']) expect(await well.ops(path)).toMatchObject({ status: 200 });
    expect(await well.metric('auth_probe_success')).toBe(1);
    expect(await well.metric('auth_probe_close_seconds')).toBeGreaterThan(0);
    expect(await well.metric('auth_probe_last_run_timestamp_seconds')).toBeGreaterThan(begun);
    expect(await well.metric('auth_probe_step_duration_seconds_count{step="close"}')).toBeGreaterThan(1);
    expect(await well.metric('auth_probe_clean_ups_total{outcome="done"}')).toBeGreaterThan(1);
    expect(await unwell.metric('auth_probe_success')).toBe(0);
    expect(await unwell.metric('auth_probe_close_seconds')).toBeNaN();
    // Each of the two probes uses one email address every time, because the api long remembers where an account logged
    // in.
    expect((await countKnownAccounts()) - before).toBe(2);
    // A run that is under way is cut short and cleaned up.
    expect(await Promise.all([well.stop(), unwell.stop()])).toEqual([0, 0]);
    // An event that was under way may be left.
    const { outbox: _, ...left } = await stored();
    expect(left).toEqual({});
  });
});

test('a probe’s event that nobody delivers stays, without the account, until it is over', async () => {
  await fixture.worker.close();
  const report = await authctlJson(['probe', '--event-wait', '0s'], { env });
  expect(report).toMatchObject({ ok: true, clean_up: { outcome: 'waiting' } });
  expect(await stored()).toEqual({ outbox: 1 });
});
