import { randomUUID } from 'node:crypto';
import { type ForceLogoutCommand, forceLogoutQueue } from '@auth-account/contracts';
import { type ForceLogoutQueue, openForceLogoutQueue, requestForceLogout } from '@auth-account/messaging';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import { createTransactionRunner } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createForceLogout } from '../../../services/worker/src/force-logout/force-logout.ts';
import { logIn, newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { closeBoundMs } from '../../support/gateway/close-bound.ts';
import { startTestServices } from '../../support/processes/test-services.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startTestWorker, type TestWorker } from '../../support/worker/worker-service.ts';

const endings: (() => Promise<unknown>)[] = [];
async function endAll(): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end();
}

function openQueue(redisUrl: string, keyPrefix: string): { queue: ForceLogoutQueue; redis: Redis } {
  const redis = new Redis(redisUrl, { ...failFastOptions(), enableOfflineQueue: true });
  const queue = openForceLogoutQueue(redis, redisKeys(keyPrefix));
  endings.push(async () => {
    await queue.close();
    redis.disconnect();
  });
  return { queue, redis };
}

async function stateOf(queue: ForceLogoutQueue, jobId: string): Promise<string> {
  return (await queue.getJobState(jobId)) as string;
}

const reason = 'account blocked by an operator';

let api: TestApi;
let worker: TestWorker;
let queue: ForceLogoutQueue;
let redis: Redis;

async function openFixture(): Promise<void> {
  api = await startTestApi();
  endings.push(() => api.close());
  const { env } = api;
  worker = await startTestWorker(env);
  endings.push(() => worker.close());
  ({ queue, redis } = openQueue(testEnvironment().redisUrl, api.keyPrefix));
}

const completed = (jobId: string) =>
  eventually('the job is completed', async () => (await stateOf(queue, jobId)) === 'completed');

async function force(command: ForceLogoutCommand, jobId?: string): Promise<string> {
  const id = await requestForceLogout(queue, command, jobId);
  await completed(id);
  return id;
}

async function session(sessionId: string): Promise<SessionDocument> {
  const found = await api.collections.sessions.findOne({ _id: sessionId });
  if (found === null) throw new Error(`there is no session ${sessionId}`);
  return found;
}

const isRevoked = async ({ session_id }: { readonly session_id: string }) => (await session(session_id)).is_revoked;
const isDenied = async (sessionIds: readonly string[]) => {
  const denials = await createDenyList(redis, redisKeys(api.keyPrefix), denialLifetimeMs(600)).peek(sessionIds);
  return denials.map((denial) => denial?.kind === 'revoked');
};

/** Returns a function that counts the worker's metric from now on. */
async function startCount(
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<() => Promise<number>> {
  const before = await worker.metric(metric, labels);
  return async () => (await worker.metric(metric, labels)) - before;
}

describe('a forced logout', () => {
  beforeAll(openFixture);
  afterAll(endAll);

  test('a forced logout by user ends all sessions of that user only, and records reason and request in each', async () => {
    const phone = await newSession(api);
    const tablet = await logIn(api, phone.email);
    const otherUser = await newSession(api);
    const done = await startCount('auth_force_logouts_total', { outcome: 'done' });
    const jobId = await force({ user_id: phone.user_id, reason, request_id: 'operator-7' });

    for (const { session_id } of [phone, tablet]) {
      const revoked = { is_revoked: true, revoked_reason: 'forced', revoked_request_id: 'operator-7' };
      expect(await session(session_id)).toMatchObject(revoked);
    }
    expect(await isRevoked(otherUser)).toBe(false);
    const ids = [phone, tablet, otherUser].map(({ session_id }) => session_id);
    expect(await isDenied(ids)).toEqual([true, true, false]);
    expect(jobId).toMatch(/^[\da-f-]{36}$/);
    expect(await done()).toBe(1);
  });

  test('a forced logout by session ends that session only, however its id is written', async () => {
    const phone = await newSession(api);
    const tablet = await logIn(api, phone.email);
    await force({ session_id: tablet.session_id.toUpperCase(), reason });
    expect(await isRevoked(tablet)).toBe(true);
    expect(await isRevoked(phone)).toBe(false);
  });

  test('a forced logout by group ends the sessions of all its members and of nobody else', async () => {
    const owner = await newSession(api);
    const member = await newSession(api);
    const otherUser = await newSession(api);
    await api.collections.users.updateOne(
      { _id: member.user_id },
      { $set: { home_group_id: owner.home_group_id, role: 'member' } },
    );
    await force({ home_group_id: owner.home_group_id, reason });
    expect(await Promise.all([owner, member, otherUser].map(isRevoked))).toEqual([true, true, false]);
  });

  test('a forced logout that matches no live session is done, and leaves an ended session as it was', async () => {
    const phone = await newSession(api);
    await force({ session_id: phone.session_id, reason }, 'first');
    const before = await session(phone.session_id);
    await force({ session_id: phone.session_id, reason }, 'second');
    await force({ user_id: randomUUID(), reason });
    await force({ home_group_id: randomUUID(), reason });
    expect(await session(phone.session_id)).toEqual(before);
  });

  // guarantees: forced-logout
  test('a forced logout that runs again changes nothing: a session that began since lives on', async () => {
    const phone = await newSession(api);
    const jobId = await force({ user_id: phone.user_id, reason }, 'incident-1');
    const before = await session(phone.session_id);
    const again = await logIn(api, phone.email);

    const repeated = await startCount('auth_force_logouts_total', { outcome: 'repeated' });
    // Queues the job a second time while BullMQ knows its id, and once more when BullMQ does not.
    await force({ user_id: phone.user_id, reason }, jobId);
    await (await queue.getJob(jobId))?.remove();
    await force({ user_id: phone.user_id, reason }, jobId);

    expect(await repeated()).toBe(1);
    expect(await isRevoked(again)).toBe(false);
    expect(await session(phone.session_id)).toEqual(before);
  });

  test('two commands with the same id are both carried out', async () => {
    const [phone, other] = [await newSession(api), await newSession(api)];
    const jobId = await force({ user_id: phone.user_id, reason }, 'incident-2');
    await (await queue.getJob(jobId))?.remove();
    await force({ user_id: other.user_id, reason }, jobId);
    expect(await isRevoked(other)).toBe(true);
  });

  describe('a forced logout and a login at the same time', () => {
    /** Starts a login that has written the user's document and its session, and has not committed. */
    async function loginHalfway(phone: { user_id: string; session_id: string }) {
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      const sessions = storesOf(api.collections).sessions;
      const slipping = { ...(await session(phone.session_id)), _id: randomUUID(), device_id: randomUUID() };
      const login = createTransactionRunner(api.mongo)(
        async (transaction) => {
          await storesOf(api.collections).users.touchLogin(phone.user_id, new Date(), transaction);
          await sessions.insert(slipping, transaction);
          begun.resolve();
          await end.promise;
        },
        { isCommitted: () => sessions.exists(slipping._id) },
      );
      await begun.promise;
      return {
        session_id: slipping._id,
        async commit() {
          end.resolve();
          await login;
        },
      };
    }

    test.each([
      ['user', (phone: { user_id: string }) => ({ user_id: phone.user_id, reason })],
      ['group', (phone: { home_group_id: string }) => ({ home_group_id: phone.home_group_id, reason })],
    ])(
      'a forced logout by %s also ends a session whose login was under way when the command came',
      async (_target, commandFor) => {
        const phone = await newSession(api);
        const login = await loginHalfway(phone);
        const retries = await startCount('auth_transaction_retries_total');
        const jobId = await requestForceLogout(queue, commandFor(phone));
        await eventually('the two meet', async () => (await retries()) > 0);
        await login.commit();
        await completed(jobId);
        expect(await isRevoked(login)).toBe(true);
        expect(await isRevoked(phone)).toBe(true);
      },
    );

    test('no login that was answered before the command lives on, and both sides get their answers', async () => {
      const { email, user_id } = await registerAccount(api, newEmail());
      for (let round = 0; round < 5; round++) {
        const before = await logIn(api, email);
        const during = Array.from({ length: 3 }, () => api.logIn({ email, password }));
        await force({ user_id, reason });
        expect(await isRevoked(before)).toBe(true);
        expect((await Promise.all(during)).map(({ status }) => status)).toEqual([200, 200, 200]);
      }
    });
  });

  describe('a forced logout that is malformed', () => {
    test.each([
      ['no target', { reason }, 'exactly one of user_id, session_id, home_group_id'],
      ['two targets', { user_id: randomUUID(), session_id: randomUUID(), reason }, 'exactly one of'],
      ['no reason', { user_id: randomUUID() }, 'reason'],
      ['an empty reason', { user_id: randomUUID(), reason: '' }, '/reason'],
      ['an id that is none', { user_id: 'somebody', reason }, '/user_id'],
      ['an operator for an id', { user_id: { $ne: null }, reason }, '/user_id'],
      ['no object', 'everybody out', 'not an object'],
    ])('a malformed forced logout (%s) fails for good at the first attempt, and says why', async (_case, data, why) => {
      const jobId = randomUUID();
      const malformed = await startCount('auth_force_logouts_total', { outcome: 'malformed' });
      await queue.add('by-hand', data as ForceLogoutCommand, { jobId });
      await eventually('the job has failed', async () => (await stateOf(queue, jobId)) === 'failed');
      const job = await queue.getJob(jobId);
      expect(job?.failedReason).toContain(why);
      expect(job?.attemptsMade).toBe(1);
      expect(await malformed()).toBe(1);
    });

    test('the helper queues neither a malformed forced logout nor one with an id that the queue cannot have', async () => {
      const command = { user_id: randomUUID(), reason };
      const empty = { reason } as ForceLogoutCommand;
      await expect(requestForceLogout(queue, empty)).rejects.toThrow('exactly one of');
      for (const jobId of ['', '17', 'a:b']) {
        await expect(requestForceLogout(queue, command, jobId)).rejects.toThrow('a job id must not be');
      }
      expect(await queue.count()).toBe(0);
    });
  });
});

describe('a forced logout in a fixture of its own', () => {
  beforeEach(openFixture);
  afterEach(endAll);

  test('two commands whose number BullMQ gives twice, because Redis was emptied, are both carried out', async () => {
    const phone = await newSession(api);
    for (let round = 0; round < 2; round++) {
      const { session_id } = await logIn(api, phone.email);
      const { id = '' } = await queue.add('by-hand', { user_id: phone.user_id, reason });
      expect(id).toBe('1');
      await completed(id);
      expect(await isRevoked({ session_id })).toBe(true);
      await queue.obliterate({ force: true });
      await redis.del(`${redisKeys(api.keyPrefix).queuePrefix}:${forceLogoutQueue}:id`);
    }
  });

  // guarantees: forced-logout
  test('a forced logout that was committed but not announced is announced by the next attempt, and ends nothing else', async () => {
    const phone = await newSession(api);
    const denyList = createDenyList(redis, redisKeys(api.keyPrefix), denialLifetimeMs(600));
    const lost = new Error('Redis is away');
    const answers = [Promise.reject(lost)];
    answers[0]?.catch(() => undefined);
    const { users, sessions, idempotency } = storesOf(api.collections);
    const forceLogout = createForceLogout({
      users,
      sessions,
      done: idempotency,
      transaction: createTransactionRunner(api.mongo),
      denyList: { denyAndClose: (entries) => answers.shift() ?? denyList.denyAndClose(entries) },
      onRevoked: () => undefined,
      now: () => new Date(),
    });
    // The worker's reconciliation would repair the deny list, and must not come first.
    await worker.close();
    const command = { user_id: phone.user_id, reason };
    await expect(forceLogout(command, 'incident-3')).rejects.toBe(lost);
    expect(await isRevoked(phone)).toBe(true);
    const again = await logIn(api, phone.email);

    expect(await forceLogout(command, 'incident-3')).toEqual({ kind: 'repeated', sessions: 1 });
    expect(await isDenied([phone.session_id, again.session_id])).toEqual([true, false]);
    expect(await isRevoked(again)).toBe(false);
  });
});

describe('a forced logout through all services', () => {
  afterEach(endAll);

  // guarantees: revoked-tokens-refused
  test('a forced logout through all services closes streams with 4001, and tokens and upgrades are refused', async () => {
    const services = await startTestServices();
    endings.push(() => services.close());
    await eventually('the gateway is ready', async () => (await services.gateway.unreadiness()).length === 0);

    const { queue } = openQueue(testEnvironment().redisUrl, services.keyPrefix);
    const phone = await newSession(services.api);
    const tablet = await logIn(services.api, phone.email);
    const otherUser = await newSession(services.api);
    const [phoneStream, tabletStream, unknownDeviceStream] = await Promise.all(
      [phone, tablet, otherUser].map((tokens) => services.openStream(tokens)),
    );

    const ordered = performance.now();
    await requestForceLogout(queue, { user_id: phone.user_id, reason });
    for (const stream of [phoneStream, tabletStream]) {
      const closed = await stream?.closed;
      expect(closed).toMatchObject({ code: 4001, reason: 'SESSION_REVOKED' });
      expect((closed?.at ?? Number.POSITIVE_INFINITY) - ordered).toBeLessThan(closeBoundMs);
    }
    for (const tokens of [phone, tablet]) {
      expect(await services.refusal(tokens)).toBe(401);
      const answer = await services.api.findAccount(bearer(tokens));
      expect(answer.status).toBe(401);
    }
    expect(performance.now() - ordered).toBeLessThan(closeBoundMs);
    expect(unknownDeviceStream?.isOpen()).toBe(true);
    await eventually('the job is completed', async () => (await queue.getCompletedCount()) === 1);
  });
});
