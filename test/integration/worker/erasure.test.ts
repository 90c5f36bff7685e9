import { randomUUID } from 'node:crypto';
import { DeletedEvent } from '@auth-account/contracts/events';
import type { FactorRemoval } from '@auth-account/stores/documents';
import { newRemoval } from '@auth-account/stores/factor-removals';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Binary } from 'mongodb';
import { dumpMongo, dumpRedis, findSecrets, type Places } from '../../security/secret-search.ts';
import { logIn, newDevice, newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer, withHeaders } from '../../support/api/api-driver.ts';
import { requestReset } from '../../support/api/codes.ts';
import { expectSound, insertInvite, joinByInvite } from '../../support/api/groups.ts';
import { matchesSchema } from '../../support/api/matches-schema.ts';
import { closingAll } from '../../support/closing.ts';
import { recordLog } from '../../support/recorded-log.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import {
  type ErasureFixture,
  newDueAccount,
  openErasureFixture,
  orderDeletion,
} from '../../support/worker/erasure-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startTestWorker, type TestWorker } from '../../support/worker/worker-service.ts';

const apiLog = recordLog('api');
const workerLog = recordLog('worker');
let fixture: ErasureFixture;
let worker: TestWorker;
let redis: Redis;
beforeAll(async () => {
  fixture = await openErasureFixture(uniqueName(), apiLog.logger);
  worker = await startTestWorker(fixture.env, workerLog.logger);
  redis = new Redis(testEnvironment().redisUrl);
});
afterAll(async () => {
  redis.disconnect();
  await worker.close();
  await fixture.close();
});

const isGone = async (_id: string) => (await fixture.api.collections.users.findOne({ _id })) === null;
const untilGone = (userId: string) => eventually('the account is erased', () => isGone(userId));
const deletedEvents = (userId: string) =>
  fixture.api.collections.outbox
    .find({ 'event.subject': userId, topic: 'service.auth.events.deleted' })
    .map(({ event }) => event)
    .toArray();

// guarantees: erased-account
test('an erased account leaves no trace of the person, and its email address is free', async () => {
  const { api } = fixture;
  const email = `Cook-${randomUUID()}@example.com`;
  const [display_name, device_name, device_id] = [`Anna ${randomUUID()}`, `Phone ${randomUUID()}`, randomUUID()];
  const device = newDevice();
  const key = { 'Idempotency-Key': randomUUID(), ...device };
  const registration = { email, password, space_creation_mode: 'CREATE_NEW_HOME', device_id };
  const registered = await api.registerAccount(registration, key);
  const { user_id } = registered.json.data;
  const session = await logIn(api, email, { device_id, device_name });
  await logIn(api, email, { device_name });
  const headers = { ...bearer(session), ...key };
  await api.changeAccount({ display_name }, headers);
  await api.createInvite({}, headers);
  await api.logIn({ email, password: 'wrong password', device_id }, device);
  await requestReset(withHeaders(api, device), email);

  const traces = new Map(
    Object.entries({ email, key: email.toLowerCase(), display_name, device_name, device_id, ...device }),
  );
  const lines = (): Places => ({ logs: JSON.stringify([...apiLog.lines, ...workerLog.lines]) });
  const places = async () => ({
    ...(await dumpMongo(api.mongo.db(api.database))),
    ...(await dumpRedis(redis, `*${api.keyPrefix}*`)),
    ...lines(),
  });
  // Shows that the search works, and that even before the erasure Redis and the log have no traces.
  const before = findSecrets(traces, await places());
  expect(new Set(before.map((found) => found.split(' in ').at(-1)))).toEqual(
    new Set(['MongoDB users', 'MongoDB user_sessions']),
  );
  expect(await api.collections.idempotency.countDocuments({ user_id })).toBe(2);
  expect(await api.collections.challenges.countDocuments({ user_id })).toBe(1);

  await orderDeletion(api, session);
  await untilGone(user_id);
  await eventually('its devices and networks are forgotten', async () => {
    const kept = await redis.keys(`*${api.keyPrefix}*`);
    return !kept.some((name) => /:(login|wrong)-/.test(name));
  });
  expect(findSecrets(traces, await places())).toEqual([]);
  const ids = Object.entries(await dumpMongo(api.mongo.db(api.database))).filter(([, text]) => text.includes(user_id));
  expect(ids.map(([place]) => place).sort()).toEqual(['MongoDB groups', 'MongoDB outbox']);

  // A retry of the old registration registers anew, because the old record is gone.
  const again = await api.registerAccount(registration, key);
  expect(again.status).toBe(201);
  expect(again.json.data.user_id).not.toBe(user_id);
  await logIn(api, email);
  await expectSound(api);
});

test('the event and the audit log have the erased account’s id, and its group closes with its invites', async () => {
  const { api } = fixture;
  const session = await newSession(api);
  const { user_id, home_group_id } = session;
  const invite = await insertInvite(api, home_group_id);
  workerLog.takeEvents();
  await orderDeletion(api, session);
  await untilGone(user_id);
  const [event, ...others] = await deletedEvents(user_id);
  expect(others).toEqual([]);
  expect(matchesSchema(DeletedEvent, event)).toBe(true);
  expect(event?.data).toEqual({ user_id, home_group_id, deleted_at: event?.time });
  await eventually('the audit log has it', () => workerLog.lines.length >= 2);
  const audited = { outcome: 'success', user_id, request_id: event?.requestid };
  expect(workerLog.takeEvents()).toEqual([
    { event: 'account.deleted', ...audited },
    { event: 'group.closed', ...audited, home_group_id },
  ]);
  const preview = await api.findInvite({ token: invite });
  expect(preview.json.data).toMatchObject({ valid: false, reason: 'revoked', invited_by: null });
  await expectSound(api);
});

test('an erased member leaves the group to the others', async () => {
  const { api } = fixture;
  const { home_group_id } = await registerAccount(api);
  const member = await joinByInvite(api, await insertInvite(api, home_group_id));
  await orderDeletion(api, member);
  await untilGone(member.user_id);
  expect(await api.collections.groups.findOne({ _id: home_group_id })).toMatchObject({ member_count: 1 });
  await expectSound(api);
});

// guarantees: erasure-once
test(
  'several workers erase each account once',
  closingAll(async (closing) => {
    const { api, env } = fixture;
    const others = [closing(await startTestWorker(env)), closing(await startTestWorker(env))];
    const before = await worker.metric('auth_erasures_total', { outcome: 'erased' });
    const accounts = await Promise.all(Array.from({ length: 6 }, () => newDueAccount(api)));
    for (const { user_id } of accounts) await untilGone(user_id);
    for (const { user_id } of accounts) expect(await deletedEvents(user_id)).toHaveLength(1);
    const total = async () => {
      const counts = await Promise.all(
        [worker, ...others].map((each) => each.metric('auth_erasures_total', { outcome: 'erased' })),
      );
      return counts.reduce((sum, count) => sum + count, -before);
    };
    await eventually('every erasure is counted', async () => (await total()) >= accounts.length);
    expect(await total()).toBe(accounts.length);
    await expectSound(api);
  }),
);

describe('requests at the moment of the erasure', () => {
  test('a login, a refresh and a restore during the erasure find the account or nobody, and leave nothing', async () => {
    const { api } = fixture;
    for (let round = 0; round < 5; round += 1) {
      const { email, user_id, refresh_token } = await newDueAccount(api);
      const tries = Array.from({ length: 4 }, () => [
        api.logIn({ email, password }),
        api.restoreAccount({ email, password }),
        api.refreshTokens({ refresh_token }),
      ]);
      const statuses = (await Promise.all(tries.flat())).map(({ status }) => status);
      // A request that is too late counts as an unknown device's, and the limits refuse those. On a slow machine a
      // request may give up its attempts.
      for (const status of statuses) expect([401, 403, 429, 503]).toContain(status);
      await untilGone(user_id);
      expect(await api.collections.sessions.countDocuments({ user_id })).toBe(0);
      const after = await api.refreshTokens({ refresh_token });
      expect([after.status, after.json.error_code]).toEqual([401, 'IAD_JWT_REFRESH_EXPIRED']);
    }
    await expectSound(api);
  });

  test('a registration with the email address during the erasure is refused or makes another account', async () => {
    const { api } = fixture;
    const { email, user_id } = await newDueAccount(api);
    const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.registerAccount(body)));
    for (const { status } of answers) expect([201, 409, 503]).toContain(status);
    await untilGone(user_id);
    const made = answers.filter(({ status }) => status === 201).length;
    expect(await api.collections.users.countDocuments({ email_key: email })).toBe(made);
    expect(made).toBeLessThanOrEqual(1);
    await expectSound(api);
  });

  test('an access token from before the erasure is refused, even if Redis loses its data afterwards', async () => {
    const { api } = fixture;
    const session = await newDueAccount(api);
    await untilGone(session.user_id);
    const expectRefused = async () => {
      const answer = await api.findAccount(bearer(session));
      expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
    };
    const denials = () => redis.keys(`*${api.keyPrefix}*denied:${session.session_id}`);
    await expectRefused();
    expect(await denials()).toHaveLength(1);
    const held = await api.collections.erasedSessions.findOne({ _id: session.session_id });
    expect(Object.keys(held ?? {}).sort()).toEqual([
      '_id',
      'purge_at',
      'revoked_at',
      'revoked_reason',
      'revoked_request_id',
    ]);
    await redis.del(await redis.keys(`*${api.keyPrefix}*`));
    await eventually('it is denied again', async () => (await denials()).length === 1);
    await expectRefused();
  });
});

test(
  'an account that stays past its time is overdue',
  closingAll(async (closing) => {
    const other = await openErasureFixture(uniqueName());
    closing({ close: () => other.close() });
    const { user_id } = await registerAccount(other.api, newEmail());
    const erasure = { lease: 'of another worker', until: new Date(Date.now() + 3_600_000) };
    const deletes_at = new Date(Date.now() - 3_600_000);
    await other.api.collections.users.updateOne({ _id: user_id }, { $set: { deletes_at, erasure } });
    const late = closing(await startTestWorker(other.env));
    await eventually('it is counted', async () => (await late.metric('auth_erasures_overdue')) === 1);
  }),
);

test(
  'a second factor whose removal MongoDB refuses is overdue',
  closingAll(async (closing) => {
    const other = await openErasureFixture(uniqueName());
    closing({ close: () => other.close() });
    const { mongo, database, collections } = other.api;
    const { user_id } = await registerAccount(other.api, newEmail());
    const due_at = new Date(Date.now() - 3_600_000);
    const removal: FactorRemoval = { ...newRemoval(due_at, 'mail'), due_at };
    const sealed = { factor_id: randomUUID(), kid: 'k', seed: new Binary(Buffer.alloc(48)) };
    const totp = { ...sealed, confirmed_at: due_at, last_step: 1, removal };
    await collections.users.updateOne({ _id: user_id }, { $set: { totp } });
    const validator = { 'totp.removal': { $exists: true } };
    await mongo.db(database).command({ collMod: collections.users.collectionName, validator });
    const late = closing(await startTestWorker(other.env));
    await eventually('it is counted', async () => (await late.metric('auth_factor_removals_overdue')) === 1);
  }),
);
