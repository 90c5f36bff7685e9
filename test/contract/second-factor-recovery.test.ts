import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, password } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { confirmChange, confirmReset, requestReset, undoTokenOf } from '../support/api/codes.ts';
import {
  beginLogin,
  codeAt,
  completeLogin,
  type GuardedAccount,
  guardedAccount,
  orderRemoval,
  stepUpBy,
} from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
let shiftMs = 0;
const now = () => Date.now() + shiftMs;
beforeAll(async () => {
  api = await startTestApi({}, { now });
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
  // guarantees: no-password-alone
  test('a reset never switches off the second factor of a verified owner', async () => {
    const { email, user_id, secret } = await guardedAccount(api, now());
    await verify(user_id);
    expect((await confirmReset(api, await requestReset(api, email))).status).toBe(200);
    const challenge_id = await beginLogin(api, email, { password: newPassword });
    expect((await completeLogin(api, challenge_id, { code: nextCode(secret) })).status).toBe(200);
    expect(await changesOf(user_id)).toEqual(['switched_on']);
  });

  // guarantees: squatter-keeps-nothing
  test('a reset removes the second factor of somebody who has registered another person’s email address', async () => {
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
    const again = await api.logIn({ email, password, device_id, trusted_device_token });
    expect(again.status).toBe(401);
  });
});

/** Changes the email address of an account with a step-up. */
async function changeEmail(account: GuardedAccount, new_email: string): Promise<void> {
  const step_up_token = await stepUpBy(api, account, 'email_change', nextCode(account.secret));
  const asked = await api.requestEmailChange({ step_up_token, new_email }, bearer(account));
  const answer = await confirmChange(api, account, asked.json.data.challenge_id);
  expect(answer.status).toBe(200);
}

const undo = async ({ user_id }: GuardedAccount) => {
  const undo_token = await undoTokenOf(api, user_id);
  expect((await api.undoEmailChange({ undo_token })).status).toBe(200);
};

describe('a change of the email address', () => {
  // guarantees: no-password-alone
  test('a change of the email address leaves the second factor on, and so does its undo', async () => {
    const owner = await guardedAccount(api, now());
    const [former, later] = [owner.email, newEmail()];
    await verify(owner.user_id);
    shiftMs += 120_000;
    expect((await api.requestEmailChange({ current_password: password, new_email: later }, bearer(owner))).status).toBe(
      403,
    );
    await changeEmail(owner, later);
    const challenge_id = await beginLogin(api, later);
    expect((await completeLogin(api, challenge_id, { code: nextCode(owner.secret) })).status).toBe(200);
    await undo(owner);
    expect((await confirmReset(api, await requestReset(api, former))).status).toBe(200);
    const again = await beginLogin(api, former, { password: newPassword });
    expect((await completeLogin(api, again, { code: nextCode(owner.secret) })).status).toBe(200);
    expect(await changesOf(owner.user_id)).toEqual(['switched_on']);
  });

  test('an undo of a change of the email address removes the authenticator app that was added since', async () => {
    const owner = await guardedAccount(api, now());
    const { user_id, email: former } = owner;
    await verify(user_id);
    shiftMs += 120_000;
    await changeEmail(owner, newEmail());
    shiftMs += 120_000;
    const step_up_token = await stepUpBy(api, owner, 'totp', nextCode(owner.secret));
    const { factor_id, secret } = (await api.createTotp({ step_up_token }, bearer(owner))).json.data;
    const code = codeAt(secret, now());
    const body = { factor_id, code };
    expect((await api.confirmTotp(body, bearer(owner))).status).toBe(200);
    await undo(owner);
    expect((await stored(user_id))?.totp).toBeUndefined();
    expect(await changesOf(user_id)).toEqual(['switched_on', 'replaced', 'switched_off']);
    expect((await confirmReset(api, await requestReset(api, former))).status).toBe(200);
    await logIn(api, former, { password: newPassword });
  });
});

test('an ordered removal ends with an undo of the change of the email address, if its mail went to the new one', async () => {
  const owner = await guardedAccount(api, now());
  const { user_id, email, secret } = owner;
  await verify(user_id);
  const thiefs = newEmail();
  shiftMs += 120_000;
  await changeEmail(owner, thiefs);
  await orderRemoval(api, thiefs);
  await undo(owner);
  const totp = (await stored(user_id))?.totp;
  expect([totp?.removal, typeof totp?.factor_id]).toEqual([undefined, 'string']);
  const type = 'service.auth.events.notice';
  const rows = await api.collections.outbox.find({ 'event.type': type, 'event.data.user_id': user_id }).toArray();
  expect(rows.map(({ event }) => 'purpose' in event.data && event.data.purpose)).toContain(
    'second_factor_removal_stopped',
  );
  expect((await confirmReset(api, await requestReset(api, email))).status).toBe(200);
  shiftMs += 72 * 3_600_000;
  const pendingLogin = await beginLogin(api, email, { password: newPassword });
  expect((await completeLogin(api, pendingLogin, { code: nextCode(secret) })).status).toBe(200);
});

// guarantees: no-password-alone
test('a restore asks for no second factor, and the login after it does', async () => {
  const { email, user_id, secret, access_token } = await guardedAccount(api, now());
  await api.collections.users.updateOne({ _id: user_id }, { $set: { deletes_at: new Date(now() + 86_400_000) } });
  const restored = await api.restoreAccount({ email, password }, bearer({ access_token }));
  expect(restored.status).toBe(200);
  const challenge_id = await beginLogin(api, email);
  expect((await completeLogin(api, challenge_id, { code: nextCode(secret) })).status).toBe(200);
});
