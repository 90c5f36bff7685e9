import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createEmailChangeTokens, loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, password } from '../support/accounts.ts';
import { confirmReset, requestReset } from '../support/codes.ts';
import { bearer, cheapHashes } from '../support/groups.ts';
import { beginLogin, codeAt, completeLogin, guardedAccount } from '../support/second-factor.ts';
import { startTestApi, type TestApi, testEnvironment } from '../support/test-api.ts';

let api: TestApi;
let shiftMs = 0;
const now = () => Date.now() + shiftMs;
beforeAll(async () => {
  api = await startTestApi(cheapHashes, { now });
});
afterAll(() => api.close());

const newPassword = 'three wrong staples';
const nextCode = (secret: string) => {
  shiftMs += 30_000;
  return codeAt(secret, now());
};
const stored = (user_id: string) => api.collections.users.findOne({ _id: user_id });
const verify = (user_id: string) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(now() - 1_000) } });
const changesOf = async (user_id: string) => {
  const type = 'service.auth.events.second_factor_changed';
  const rows = await api.collections.outbox.find({ 'event.type': type, 'event.data.user_id': user_id }).toArray();
  return rows.map(({ event }) => (event.data as unknown as { readonly change: string }).change);
};

describe('a password reset', () => {
  test('never switches off the second factor of a verified owner', async () => {
    const { email, user_id, secret } = await guardedAccount(api, now());
    await verify(user_id);
    expect((await confirmReset(api, await requestReset(api, email))).status).toBe(200);
    const challenge_id = await beginLogin(api, email, { password: newPassword });
    expect((await completeLogin(api, challenge_id, { code: nextCode(secret) })).status).toBe(200);
    expect(await changesOf(user_id)).toEqual(['switched_on']);
  });

  test('takes the factor away from somebody who has registered a stranger’s address', async () => {
    const squatter = await guardedAccount(api, now());
    const { email, user_id, device_id } = squatter;
    const challenge_id = await beginLogin(api, email, { device_id });
    const fields = { code: nextCode(squatter.secret), trust_device: true };
    const { trusted_device_token } = (await completeLogin(api, challenge_id, fields)).json.data;
    expect((await confirmReset(api, await requestReset(api, email))).status).toBe(200);
    const { totp, recovery_codes, trusted_devices } = (await stored(user_id)) ?? {};
    expect([totp, recovery_codes, trusted_devices]).toEqual([undefined, undefined, undefined]);
    expect(await changesOf(user_id)).toEqual(['switched_on', 'switched_off']);
    await logIn(api, email, { password: newPassword });
    const again = await api.post('/api/v1/auth/login', { email, password, device_id, trusted_device_token });
    expect(again.status).toBe(401);
  });
});

describe('a change of the address', () => {
  test('leaves the second factor on, and its undo switches off one that was added since', async () => {
    const { user_id, ...session } = await guardedAccount(api, now());
    await verify(user_id);
    const seen = await stored(user_id);
    const [former, thief] = [session.email, newEmail()];
    const until = new Date(now() + 72 * 3_600_000);
    const change = { change_id: randomUUID(), email: former, email_key: former, verified_at: new Date(), until };
    const moved = { email: thief, email_key: thief, former_emails: [change] };
    await api.collections.users.updateOne({ _id: user_id }, { $set: moved });
    await beginLogin(api, thief);
    const since = new Date(until.getTime() - 72 * 3_600_000 + 1);
    await api.collections.users.updateOne({ _id: user_id }, { $set: { 'totp.confirmed_at': since } });
    const keys = await loadKeyFile(join(testEnvironment().keysDir, 'server-keys.json'));
    const undo_token = createEmailChangeTokens(keys).issue(change.change_id);
    expect((await api.post('/api/v1/auth/email-change/undo', { undo_token })).status).toBe(200);
    expect([seen?.totp === undefined, (await stored(user_id))?.totp]).toEqual([false, undefined]);
    expect(await changesOf(user_id)).toEqual(['switched_on', 'switched_off']);
  });
});

test('a restore asks for no second factor, and the login after it does', async () => {
  const { email, user_id, secret, access_token } = await guardedAccount(api, now());
  await api.collections.users.updateOne({ _id: user_id }, { $set: { deletes_at: new Date(now() + 86_400_000) } });
  const restored = await api.post('/api/v1/auth/restore', { email, password }, bearer({ access_token }));
  expect(restored.status).toBe(200);
  const challenge_id = await beginLogin(api, email);
  expect((await completeLogin(api, challenge_id, { code: nextCode(secret) })).status).toBe(200);
});
