import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestCode } from '../../../services/api/src/usecases/codes/request-code.ts';
import { createRequestCodeForEmail } from '../../../services/api/src/usecases/codes/request-code-for-email.ts';
import { createRequestEmailVerification } from '../../../services/api/src/usecases/credentials/request-email-verification.ts';
import {
  createVerifyEmail,
  type VerifyEmailDeps,
} from '../../../services/api/src/usecases/credentials/verify-email.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { bearerOf } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
/** Requests for codes. */
let asked: unknown[];
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  asked = [];
  await fixture.clear();
});
afterAll(() => fixture.close());

const answer = { challenge_id: randomUUID(), expires_at: '', resend_at: null, timestamp: '' };
const requestCode: RequestCode = async (...given) => {
  asked.push(given);
  return answer;
};
const russian = () => ({ ...fixture.origin, locale: 'ru' }) as const;

describe('a request to verify the email address', () => {
  const purpose = 'email_verification';
  const request = (session: Parameters<typeof bearerOf>[0]) =>
    createRequestEmailVerification({ ...fixture.deps, requestCode })(bearerOf(session), russian());

  test('a request to verify the email address sends a code, under the limits of codes', async () => {
    const user = await fixture.user();
    const session = await fixture.session({ user_id: user._id });
    expect(await request(session)).toBe(answer);
    expect(fixture.limitCalls).toEqual(['code', { email: user.email, isVerified: false, hasAccess: true }]);
    expect(asked).toEqual([[{ purpose, userId: user._id, locale: 'ru' }, russian()]]);
  });

  test('a request to verify an email address that is already verified is counted as such', async () => {
    const user = await fixture.user({ email_verified_at: new Date(0) });
    await request(await fixture.session({ user_id: user._id }));
    expect(fixture.limitCalls).toMatchObject(['code', { email: user.email, isVerified: true }]);
  });

  test('a request to verify the email address of a deleted account makes the app refresh', async () => {
    await expect(request(await fixture.session())).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    expect([fixture.limitCalls, asked]).toEqual([['code'], []]);
  });
});

describe('a request for a code to an email address', () => {
  const purpose = 'account_deletion';
  const request = (body: { email: string; device_id?: string }) =>
    createRequestCodeForEmail({ ...fixture.deps, requestCode }, purpose)(body, russian());

  test('a request for a code to an email address is for its account, in the account’s language', async () => {
    const user = await fixture.user({ locale: 'en', email_verified_at: fixture.now() });
    const device_id = '7D0F7A34-52F1-4A4E-9B0E-3A1C5D2E8F90';
    expect(await request({ email: user.email, device_id })).toBe(answer);
    expect(fixture.limitCalls).toEqual(['code', { email: user.email, isVerified: true, hasAccess: false }]);
    expect(asked).toEqual([[{ purpose, userId: user._id, locale: 'en' }, russian()]]);
  });

  test('a request for a code to an account that is due for erasure is for nobody', async () => {
    const [due, waiting] = [
      await fixture.user({ deletes_at: fixture.now() }),
      await fixture.user({ deletes_at: new Date(fixture.now().getTime() + 1) }),
    ];
    for (const { email } of [due, waiting]) await request({ email });
    expect(asked).toMatchObject([[{ userId: undefined }], [{ userId: waiting._id }]].map(([code]) => [code, {}]));
  });

  test('a request for a code to an unknown email address is for nobody, and without a device id for no device', async () => {
    const email = 'nobody@example.com';
    await request({ email });
    expect(fixture.limitCalls).toEqual(['code', { email, isVerified: false, hasAccess: false }]);
    expect(asked).toEqual([[{ purpose, userId: undefined, locale: 'ru' }, russian()]]);
  });
});

describe('the code that verifies an email address', () => {
  const verify = (body: { challenge_id: string; code: string }, given: Partial<VerifyEmailDeps> = {}) =>
    createVerifyEmail({ ...fixture.deps, ...given })(body, fixture.origin);
  const verified = () => ({ message: 'EMAIL_VERIFIED', timestamp: fixture.now().toISOString() });
  const ofUser = async (fields: object = {}) => {
    const user = await fixture.user(fields);
    return { user, code: await fixture.challenge(user, 'email_verification') };
  };
  const audited = (user_id: string) => [[{ event: 'account.email_verified', user_id }, fixture.origin]];

  test('the right code verifies the email address with its event, and announces that afterwards', async () => {
    const { user, code } = await ofUser();
    expect(await verify(code)).toEqual(verified());
    const at = fixture.now();
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, email_verified_at: at, touches: 1 });
    expect(await fixture.storedChallenge(code.challenge_id)).toMatchObject({ ended_at: at });
    const rows = await fixture.rows();
    const data = { user_id: user._id, verified_at: at.toISOString() };
    expect(rows.map(({ topic, event }) => [topic, event.data, event.time, event.requestid])).toEqual([
      ['service.auth.events.email_verified', data, at.toISOString(), fixture.origin.requestId],
    ]);
    expect(fixture.published).toEqual(rows.map(({ event }) => event));
    expect([fixture.audited, fixture.limitCalls, fixture.verdicts]).toEqual([
      audited(user._id),
      ['try', ['verified', user.email]],
      [false, true],
    ]);
  });

  test('the right code leaves an email address that is already verified, and is used up', async () => {
    const { user, code } = await ofUser({ email_verified_at: new Date(0) });
    expect(await verify(code)).toEqual(verified());
    expect(await fixture.storedUser(user._id)).toEqual(user);
    expect(await fixture.storedChallenge(code.challenge_id)).toMatchObject({ ended_at: fixture.now() });
    expect([await fixture.rows(), fixture.published, fixture.audited]).toEqual([[], [], audited(user._id)]);
  });

  test('the right code verifies nothing if the email address was changed since it was compared', async () => {
    const { user, code } = await ofUser();
    const slow: VerifyEmailDeps['checkCode'] = async (...given) => {
      const right = await fixture.deps.checkCode(...given);
      await fixture.collections.users.updateOne({ _id: user._id }, { $set: { email_key: 'other@example.com' } });
      return right;
    };
    const invalid = { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } };
    await expect(verify(code, { checkCode: slow })).rejects.toMatchObject(invalid);
    expect((await fixture.storedUser(user._id))?.email_verified_at).toBeUndefined();
    expect(await fixture.storedChallenge(code.challenge_id)).toMatchObject({ ended_at: null });
    expect([await fixture.rows(), fixture.published, fixture.audited]).toEqual([[], [], []]);
  });

  test('the code of another purpose does not verify the email address', async () => {
    const { user } = await ofUser();
    const other = await fixture.challenge(user, 'password_reset');
    await expect(verify(other)).rejects.toMatchObject({ code: 'ERR-CODE-INVALID' });
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });
});
