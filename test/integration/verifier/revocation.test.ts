import { failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { logIn, logOut, newSession } from '../../support/api/accounts.ts';
import { leave, refresh } from '../../support/api/groups.ts';
import {
  keyPrefix,
  openVerifierFixture,
  refused,
  type VerifierFixture,
} from '../../support/verifier/verifier-fixture.ts';
import { refusal } from '../../support/worker/consumer-acl-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: VerifierFixture;

beforeAll(async () => {
  fixture = await openVerifierFixture();
});
afterAll(() => fixture.close());

describe('a resource server that reads the deny list', () => {
  // guarantees: resource-server-deny-list
  test('a resource server that reads the deny list refuses a token after its logout, which it had accepted', async () => {
    const verifier = fixture.openVerifier();
    const [session, other] = [await newSession(fixture.api), await newSession(fixture.api)];
    expect(await verifier.authenticate(`Bearer ${session.access_token}`)).toMatchObject({ sid: session.session_id });
    expect(await verifier.verdict(other.access_token)).toBe('good');
    expect((await logOut(fixture.api, session)).status).toBe(200);
    await verifier.until(session.access_token, refused);
    expect(await verifier.verdict(other.access_token)).toBe('good');
    expect(verifier.reports).toEqual([]);
    verifier.close();
  });

  test('a resource server that reads the deny list refuses each of several logouts, one after the other', async () => {
    const verifier = fixture.openVerifier();
    const took: number[] = [];
    for (let i = 0; i < (process.env.MODEL_FIGURES ? 100 : 3); i += 1) {
      const session = await newSession(fixture.api);
      expect(await verifier.verdict(session.access_token)).toBe('good');
      await logOut(fixture.api, session);
      const begin = performance.now();
      await verifier.until(session.access_token, refused);
      took.push(performance.now() - begin);
    }
    took.sort((a, b) => a - b);
    if (process.env.MODEL_FIGURES)
      console.log('ms from the answer to a logout to the refusal', took.at(50), took.at(-1));
    verifier.close();
  });

  test('a resource server that reads the deny list knows at its start what was revoked before', async () => {
    const sessions = await Promise.all([newSession(fixture.api), newSession(fixture.api)]);
    const [revoked, good] = sessions;
    await logOut(fixture.api, revoked);
    const verifier = fixture.openVerifier();
    expect(await verifier.verdict(revoked.access_token)).toBe(refused);
    expect(await verifier.verdict(good.access_token)).toBe('good');
    verifier.close();
  });

  // guarantees: resource-server-deny-list
  test('a resource server that reads the deny list refuses the claims of a group that the user has left, and accepts the new ones', async () => {
    const verifier = fixture.openVerifier();
    const session = await newSession(fixture.api);
    expect(await verifier.verdict(session.access_token)).toBe('good');
    expect((await leave(fixture.api, session)).status).toBe(200);
    await verifier.until(session.access_token, refused);
    expect(await verifier.verdict((await refresh(fixture.api, session)).access_token)).toBe('good');
    verifier.close();
  });

  // guarantees: resource-server-deny-list
  test('a resource server accepts nothing while the deny list is not complete, because it does not know', async () => {
    const session = await newSession(fixture.api);
    await fixture.admin.del(redisKeys(keyPrefix).denyListComplete);
    const verifier = fixture.openVerifier();
    expect(await verifier.verdict(session.access_token)).toBe('ERR-DEPENDENCY-UNAVAILABLE');
    await expect(verifier.ready()).rejects.toThrow('ERR-DEPENDENCY-UNAVAILABLE');
    await fixture.completeDenyList();
    await verifier.until(session.access_token, 'good');
    verifier.close();
  });

  test('a resource server without revocations accepts a revoked token until its end', async () => {
    const verifier = fixture.openVerifier({ revocations: 'none' });
    const session = await newSession(fixture.api);
    await logOut(fixture.api, session);
    expect(await verifier.verdict(session.access_token)).toBe('good');
    verifier.close();
  });
});

describe('Redis away', () => {
  // guarantees: resource-server-deny-list
  test('while Redis is away, a resource server uses its copy for the grace, then accepts nothing until the list is complete', async () => {
    const graceSeconds = 3_600;
    const verifier = fixture.openVerifier({ graceSeconds });
    const lenient = fixture.openVerifier({ graceSeconds: Number.POSITIVE_INFINITY });
    const [session, revoked] = [await newSession(fixture.api), await newSession(fixture.api)];
    await logOut(fixture.api, revoked);
    for (const internalService of [verifier, lenient]) {
      await internalService.until(revoked.access_token, refused);
      expect(await internalService.verdict(session.access_token)).toBe('good');
    }

    await fixture.stopRedis();
    await eventually('the report', () => verifier.reports.some(({ kind }) => kind === 'revocations-away'));
    expect(await verifier.verdict(session.access_token)).toBe('good');
    expect(await verifier.verdict(revoked.access_token)).toBe(refused);
    for (const internalService of [verifier, lenient]) internalService.pass((graceSeconds + 2) * 1_000);
    expect(await verifier.verdict(session.access_token)).toBe('ERR-DEPENDENCY-UNAVAILABLE');
    expect(await lenient.verdict(session.access_token)).toBe('good');

    await fixture.startRedis();
    // Redis is a new process, whose data may be older than the newest denial.
    expect(await verifier.verdict(session.access_token)).toBe('ERR-DEPENDENCY-UNAVAILABLE');
    await fixture.completeDenyList();
    await verifier.until(session.access_token, 'good');
    expect(await verifier.verdict(revoked.access_token)).toBe(refused);
    expect(verifier.reports.map(({ kind }) => kind)).toEqual(['revocations-away', 'revocations-back']);
  });

  // guarantees: resource-server-deny-list
  test('a Redis that lost everything brings no revoked token back', async () => {
    const verifier = fixture.openVerifier();
    const session = await newSession(fixture.api);
    await logOut(fixture.api, session);
    await verifier.until(session.access_token, refused);
    await fixture.admin.flushall();
    await fixture.completeDenyList();
    const later = await logIn(fixture.api, session.email);
    await verifier.until(later.access_token, 'good');
    expect(await verifier.verdict(session.access_token)).toBe(refused);
  });
});

describe('the Redis user of docs/verifying.md', () => {
  let internalService: Redis;
  const keys = redisKeys(keyPrefix);

  beforeAll(() => {
    internalService = openRedis(
      { REDIS_URL: fixture.internalServiceUrl },
      { ...failFastOptions(), enableOfflineQueue: true, enableReadyCheck: false },
    ) as Redis;
  });
  afterAll(() => internalService.disconnect());

  // guarantees: resource-server-rights
  test('the Redis user of docs/verifying.md is refused nothing that a verifier needs', async () => {
    await fixture.admin.call('ACL', 'LOG', 'RESET');
    const verifier = fixture.openVerifier();
    const session = await newSession(fixture.api);
    await logOut(fixture.api, session);
    await verifier.until(session.access_token, refused);
    verifier.close();
    expect(await fixture.admin.call('ACL', 'LOG')).toEqual([]);
  });

  // guarantees: resource-server-rights
  test.each<[what: string, attempt: () => Promise<unknown>]>([
    ['denying a session', () => internalService.set(keys.denied('s'), 'none:SESSION_REVOKED')],
    ['accepting one again', () => internalService.del(keys.denied('s'))],
    ['forgetting when it was denied', () => internalService.zrem(keys.revocations, 's')],
    ['calling the list complete', () => internalService.set(keys.denyListComplete, 'me')],
    ['a script', () => internalService.eval("return redis.call('GET', KEYS[1])", 1, keys.denyListComplete)],
    ['a limit', () => internalService.get(`${keys.limit('login')}:192.0.2.1`)],
    ['the number of streams', () => internalService.get(keys.streamNumber)],
    ['a queue', () => internalService.get(`${keys.queuePrefix}:service.auth.events.registered:meta`)],
    ['a close command', () => internalService.publish(keys.commands, '{}')],
    ['a message to apps', () => internalService.publish(keys.messages, '{}')],
    ['listening', () => internalService.subscribe(keys.commands)],
    ['the names of keys', () => internalService.keys('*')],
    ['a walk over the keys', () => internalService.scan(0)],
    ['emptying the server', () => internalService.flushall()],
    ['the configuration', () => internalService.config('GET', 'requirepass')],
  ])('the Redis user of docs/verifying.md is refused %s', async (_what, attempt) => {
    await expect(attempt()).rejects.toThrow(refusal);
  });
});
