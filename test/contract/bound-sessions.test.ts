import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newSession, type TokenPair } from '../support/accounts.ts';
import { type DeviceKey, newDeviceKey, refreshPath, type WantedProof } from '../support/device-key.ts';
import type { Answer } from '../support/http-client.ts';
import { recordLog } from '../support/recorded-log.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

let api: TestApi;
const log = recordLog('api');
beforeAll(async () => {
  api = await startTestApi({}, {}, log.logger);
});
afterAll(() => api.close());

let key: DeviceKey;
let session: TokenPair;
beforeEach(async () => {
  key = newDeviceKey();
  session = await newSession(api);
  await api.collections.sessions.updateOne({ _id: session.session_id }, { $set: { cnf: { jkt: key.jkt } } });
  log.takeEvents();
});

const send = (refresh_token: string, proof?: string) =>
  api.post(refreshPath, { refresh_token }, proof === undefined ? {} : { DPoP: proof });

/** Refreshes with a proof of the session's key, or with one that differs from it as wanted. */
const refresh = (token: string, wanted: Partial<WantedProof> = {}, by = key) =>
  send(token, by.prove({ path: refreshPath, token, ...wanted }));

const stored = () => api.collections.sessions.findOne({ _id: session.session_id });

/** Expects a refusal that leaves the session as it was, and returns its reason in the audit log. */
async function reasonOf(send: () => Promise<Answer>) {
  const before = await stored();
  const { status, json } = await send();
  expect([status, json.error_code]).toEqual([401, 'IAD_JWT_REFRESH_EXPIRED']);
  expect(await stored()).toEqual(before);
  const [event, ...others] = log.takeEvents();
  expect(others).toEqual([]);
  expect(event).toMatchObject({ event: 'refresh.expired', session_id: session.session_id });
  return event?.reason;
}

describe('a bound session', () => {
  test('goes on with a proof by its key', async () => {
    let { refresh_token } = session;
    for (let round = 0; round < 5; round += 1) {
      const { status, json } = await refresh(refresh_token);
      expect([status, json.data?.bound]).toEqual([200, true]);
      refresh_token = json.data.refresh_token;
    }
  });

  test('converges: twenty refreshes at once get the same successor', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(session.refresh_token)));
    expect(new Set(answers.map(({ json }) => json.data.refresh_token)).size).toBe(1);
  });

  test('answers a repeat whose first answer was lost', async () => {
    const first = await refresh(session.refresh_token);
    const second = await refresh(session.refresh_token);
    expect(second.json.data.refresh_token).toBe(first.json.data.refresh_token);
  });

  test('still detects theft if a void token comes with a proof by its key', async () => {
    const second = (await refresh(session.refresh_token)).json.data.refresh_token;
    await refresh(second);
    expect((await refresh(session.refresh_token)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
  });

  test('needs a proof', async () => {
    expect(await reasonOf(() => send(session.refresh_token))).toBe('proof_missing');
    expect((await refresh(session.refresh_token)).status).toBe(200);
  });

  test('takes no proof of another device, with any of its tokens, and calls it no theft', async () => {
    const thief = newDeviceKey();
    const second = (await refresh(session.refresh_token)).json.data.refresh_token;
    const third = (await refresh(second)).json.data.refresh_token;
    log.takeEvents();
    for (const token of [session.refresh_token, second, third]) {
      expect(await reasonOf(() => refresh(token, {}, thief))).toBe('proof_of_other_key');
      expect(await reasonOf(() => send(token))).toBe('proof_missing');
    }
    expect((await refresh(third)).status).toBe(200);
  });

  test.each<[string, Partial<WantedProof>]>([
    ['for another refresh token', { token: 'another' }],
    ['for no refresh token', { token: undefined }],
    ['for the login', { path: '/api/v1/auth/login' }],
    ['of an hour ago', { at: Date.now() - 3_600_000 }],
    ['of a wrong type', { header: { typ: 'JWT' } }],
  ])('takes no proof %s', async (_, wanted) => {
    expect(await reasonOf(() => refresh(session.refresh_token, wanted))).toBe('proof_wrong');
  });

  test('takes no two proofs', async () => {
    const proof = key.prove({ path: refreshPath, token: session.refresh_token });
    const request = { path: refreshPath, body: { refresh_token: session.refresh_token } };
    expect(await reasonOf(() => api.send({ ...request, headers: { DPoP: [proof, proof] } }))).toBe('proof_wrong');
  });

  test('takes a proof that was recorded at an earlier refresh for nothing else', async () => {
    const recorded = key.prove({ path: refreshPath, token: session.refresh_token });
    const second = (await send(session.refresh_token, recorded)).json.data.refresh_token;
    log.takeEvents();
    expect(await reasonOf(() => send(second, recorded))).toBe('proof_wrong');
  });

  test('tells the reason of its end without a proof', async () => {
    await api.post(
      '/api/v1/auth/logout',
      { refresh_token: session.refresh_token },
      { Authorization: `Bearer ${session.access_token}` },
    );
    const { json } = await send(session.refresh_token);
    expect([json.error_code, json.details.reason]).toEqual(['IAD_JWT_REFRESH_STOLEN', 'logged_out']);
  });
});

describe('an unbound session', () => {
  beforeEach(async () => {
    await api.collections.sessions.updateOne({ _id: session.session_id }, { $unset: { cnf: '' } });
  });

  test.each<[string, Partial<WantedProof>]>([
    ['a proof', {}],
    ['a wrong proof', { at: 0 }],
  ])('ignores %s, and stays unbound', async (_, wanted) => {
    const first = await refresh(session.refresh_token, wanted);
    expect([first.status, first.json.data.bound]).toEqual([200, undefined]);
    expect((await send(first.json.data.refresh_token)).status).toBe(200);
    const found = await api.collections.sessions.findOne({ _id: session.session_id });
    expect(found).not.toHaveProperty('cnf');
  });
});
