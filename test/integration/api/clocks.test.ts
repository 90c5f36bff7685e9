import { randomUUID } from 'node:crypto';
import { waitUntil } from '@auth-account/local-stack';
import { createDatabaseClock } from '@auth-account/stores';
import { firstIdOf } from '@auth-account/stores/documents';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { newSession, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { codeOf, confirmReset, logInByCode, requestLoginCode, requestReset } from '../../support/api/codes.ts';
import { refresh } from '../../support/api/groups.ts';
import { beginLogin, completeLogin, guardedAccount, orderRemoval } from '../../support/api/second-factor.ts';
import { stepUp } from '../../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

/** Three apis of one system. The hosts' clocks of two of them are five minutes off. */
let behind: TestApi;
let right: TestApi;
let ahead: TestApi;
const offMs = 300_000;
const hostOff = (ms: number) => ({ hostNow: () => Date.now() + ms });
beforeAll(async () => {
  right = await startTestApi();
  behind = await right.beside({}, hostOff(-offMs));
  ahead = await right.beside({}, hostOff(offMs));
});
afterAll(async () => {
  await right.close();
});

const api = { behind: () => behind, ahead: () => ahead };
type Name = keyof typeof api;
const pairs: [Name, Name][] = [
  ['behind', 'ahead'],
  ['ahead', 'behind'],
];

describe.each(pairs)('apis whose clocks differ (%s, then %s)', (first, second) => {
  // guarantees: wrong-clock
  test(`a refresh at an api with the clock ${first} is repeated with the same token at one with the clock ${second}`, async () => {
    const [on, other] = [api[first](), api[second]()];
    const session = await newSession(on);
    const { refresh_token } = await refresh(on, session);
    expect(await refresh(other, session)).toMatchObject({ refresh_token });
  });

  // guarantees: wrong-clock
  test(`a code of an api with the clock ${first} counts at one with the clock ${second}`, async () => {
    const { email } = await newSession(right);
    expect(await confirmReset(api[second](), await requestReset(api[first](), email))).toMatchObject({ status: 200 });
  });

  test(`a login by code at an api with the clock ${first} is repeated with its answer at one with the clock ${second}`, async () => {
    const { email } = await newSession(right);
    const challenge_id = await requestLoginCode(right, email);
    const fields = { code: await codeOf(right, challenge_id), device_id: randomUUID() };
    const { json } = await logInByCode(api[first](), challenge_id, fields);
    const repeated = await logInByCode(api[second](), challenge_id, fields);
    expect(repeated).toMatchObject({ status: 200, json: { data: { session_id: json.data.session_id } } });
  });

  test(`a login that begins at an api with the clock ${first} ends at one with the clock ${second}`, async () => {
    const { email, recovery_codes } = await guardedAccount(right);
    const challenge_id = await beginLogin(api[first](), email);
    const factor = { method: 'recovery_code', code: recovery_codes[0] };
    expect(await completeLogin(api[second](), challenge_id, factor)).toMatchObject({ status: 200 });
  });

  // guarantees: wrong-clock
  test(`access and step-up tokens of an api with the clock ${first} count at one with the clock ${second}`, async () => {
    const session = await newSession(api[first]());
    const step_up_token = await stepUp(api[first](), session, 'export');
    const exported = await api[second]().exportAccount({ step_up_token }, bearer(session));
    expect(exported).toMatchObject({ status: 200 });
  });

  test(`ids of an api with the clock ${first} sort by MongoDB’s time, by which a replay selects events`, async () => {
    const [begun, margin] = [Date.now(), 60_000];
    const { session_id } = await newSession(api[first]());
    expect(session_id > firstIdOf(new Date(begun - margin))).toBe(true);
    expect(session_id < firstIdOf(new Date(begun + margin))).toBe(true);
  });

  // guarantees: wrong-clock
  test(`no removal of a second factor and no erasure is due too early, ordered at an api with the clock ${first}`, async () => {
    const { email } = await guardedAccount(right);
    const caller = bearer(await newSession(right));
    const soonest = (hours: number) => Date.now() + hours * 3_600_000 - 1_000;
    const [removal, erasure] = [soonest(72), soonest(14 * 24)];
    expect((await orderRemoval(api[first](), email)).getTime()).toBeGreaterThan(removal);
    const { json } = await api[first]().scheduleDeletion({ current_password: password }, caller);
    expect(Date.parse(json.data.deletes_at)).toBeGreaterThan(erasure);
  });
});

// guarantees: wrong-clock
test('a worker whose clock is ahead removes no second factor too early', async () => {
  const dueIn = async (ms: number) => {
    const { user_id, email } = await guardedAccount(right);
    await orderRemoval(right, email);
    const due_at = new Date(Date.now() + ms);
    await right.collections.users.updateOne({ _id: user_id }, { $set: { 'totp.removal.due_at': due_at } });
    return async () => (await right.collections.users.findOne({ _id: user_id }))?.totp === undefined;
  };
  const isRemovedEarly = await dueIn(offMs / 2);
  const worker = await startTestWorker(right.env, undefined, hostOff(offMs));
  try {
    // The first removal ends a round, and the second one needs another, which has seen the other account before.
    for (let round = 0; round < 2; round += 1) {
      await waitUntil(await dueIn(-offMs), { what: 'a removal', timeoutMs: 60_000, intervalMs: 20 });
    }
    expect(await isRemovedEarly()).toBe(false);
  } finally {
    await worker.close();
  }
});

test('a session that was opened before MongoDB’s clock went back gets access tokens that count', async () => {
  const session = await newSession(right);
  const later = new Date(Date.now() + offMs);
  await right.collections.sessions.updateOne({ _id: session.session_id }, { $set: { 'auth.at': later } });
  const headers = bearer(await refresh(right, session));
  expect(await right.findAccount(headers)).toMatchObject({ status: 200 });
});

test('a service whose host’s clock jumps keeps to MongoDB’s clock, and reports each correction', async () => {
  let jumpedMs = 0;
  const corrections: number[] = [];
  const onCorrected = (aheadMs: number) => corrections.push(aheadMs);
  const clock = createDatabaseClock({ host: () => Date.now() + jumpedMs, onCorrected });
  await clock.ask(right.mongo);
  expect(corrections).toEqual([]);
  for (jumpedMs of [offMs, -offMs]) {
    await clock.ask(right.mongo);
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(offMs / 2);
    expect(Math.abs((corrections.at(-1) ?? 0) + jumpedMs)).toBeLessThan(offMs / 2);
  }
  const closed = new MongoClient(testEnvironment().mongodbUri);
  await closed.close();
  await clock.ask(closed);
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(offMs / 2);
});
