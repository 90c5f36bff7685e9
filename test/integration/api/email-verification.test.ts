import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestCode } from '../../../services/api/src/usecases/codes/request-code.ts';
import { createRequestCodeForAddress } from '../../../services/api/src/usecases/codes/request-code-for-address.ts';
import { createRequestEmailVerification } from '../../../services/api/src/usecases/credentials/request-email-verification.ts';
import {
  createVerifyEmail,
  type VerifyEmailDeps,
} from '../../../services/api/src/usecases/credentials/verify-email.ts';
import { type AccountScene, openAccountScene } from '../../support/account-scene.ts';
import { bearerOf } from '../../support/use-case-scene.ts';

let scene: AccountScene;
/** Requests for codes. */
let asked: unknown[];
beforeAll(async () => {
  scene = await openAccountScene();
});
beforeEach(async () => {
  asked = [];
  await scene.clear();
});
afterAll(() => scene.close());

const answer = { challenge_id: randomUUID(), expires_at: '', resend_at: null, timestamp: '' };
const requestCode: RequestCode = async (...given) => {
  asked.push(given);
  return answer;
};
const russian = () => ({ ...scene.origin, locale: 'ru' }) as const;

describe('a request to verify the address', () => {
  const purpose = 'email_verification';
  const request = (session: Parameters<typeof bearerOf>[0]) =>
    createRequestEmailVerification({ ...scene.deps, requestCode })(bearerOf(session), russian());

  test('a request to verify the address sends a code, under the limits of codes', async () => {
    const user = await scene.user();
    const session = await scene.session({ user_id: user._id });
    expect(await request(session)).toBe(answer);
    expect(scene.told).toEqual(['code', { email: user.email, isVerified: false, hasAccess: true }]);
    expect(asked).toEqual([[{ purpose, userId: user._id, locale: 'ru' }, russian()]]);
  });

  test('a request to verify an address that is already verified is counted as such', async () => {
    const user = await scene.user({ email_verified_at: new Date(0) });
    await request(await scene.session({ user_id: user._id }));
    expect(scene.told).toMatchObject(['code', { email: user.email, isVerified: true }]);
  });

  test('a request to verify the address of a deleted account makes the app refresh', async () => {
    await expect(request(await scene.session())).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    expect([scene.told, asked]).toEqual([['code'], []]);
  });
});

describe('a request for a code to an address', () => {
  const purpose = 'account_deletion';
  const request = (body: { email: string; device_id?: string }) =>
    createRequestCodeForAddress({ ...scene.deps, requestCode }, purpose)(body, russian());

  test('a request for a code to an address is for its account, in the account’s language', async () => {
    const user = await scene.user({ locale: 'en', email_verified_at: scene.now() });
    const device_id = '7D0F7A34-52F1-4A4E-9B0E-3A1C5D2E8F90';
    expect(await request({ email: user.email, device_id })).toBe(answer);
    expect(scene.told).toEqual(['code', { email: user.email, isVerified: true, hasAccess: false }]);
    expect(asked).toEqual([[{ purpose, userId: user._id, locale: 'en' }, russian()]]);
  });

  test('a request for a code to an account that is due for erasure is for nobody', async () => {
    const [due, waiting] = [
      await scene.user({ deletes_at: scene.now() }),
      await scene.user({ deletes_at: new Date(scene.now().getTime() + 1) }),
    ];
    for (const { email } of [due, waiting]) await request({ email });
    expect(asked).toMatchObject([[{ userId: undefined }], [{ userId: waiting._id }]].map(([code]) => [code, {}]));
  });

  test('a request for a code to an unknown address is for nobody, and without a device id for no device', async () => {
    const email = 'nobody@example.com';
    await request({ email });
    expect(scene.told).toEqual(['code', { email, isVerified: false, hasAccess: false }]);
    expect(asked).toEqual([[{ purpose, userId: undefined, locale: 'ru' }, russian()]]);
  });
});

describe('the code that verifies an address', () => {
  const verify = (body: { challenge_id: string; code: string }, given: Partial<VerifyEmailDeps> = {}) =>
    createVerifyEmail({ ...scene.deps, ...given })(body, scene.origin);
  const verified = () => ({ message: 'EMAIL_VERIFIED', timestamp: scene.now().toISOString() });
  const ofUser = async (fields: object = {}) => {
    const user = await scene.user(fields);
    return { user, code: await scene.challenge(user, 'email_verification') };
  };
  const audited = (user_id: string) => [[{ event: 'account.email_verified', user_id }, scene.origin]];

  test('the right code verifies the address with its event, and announces that afterwards', async () => {
    const { user, code } = await ofUser();
    expect(await verify(code)).toEqual(verified());
    const at = scene.now();
    expect(await scene.storedUser(user._id)).toEqual({ ...user, email_verified_at: at, touches: 1 });
    expect(await scene.storedChallenge(code.challenge_id)).toMatchObject({ ended_at: at });
    const rows = await scene.rows();
    const data = { user_id: user._id, verified_at: at.toISOString() };
    expect(rows.map(({ topic, event }) => [topic, event.data, event.time, event.requestid])).toEqual([
      ['service.auth.events.email_verified', data, at.toISOString(), scene.origin.requestId],
    ]);
    expect(scene.published).toEqual(rows.map(({ event }) => event));
    expect([scene.audited, scene.told, scene.verdicts]).toEqual([
      audited(user._id),
      ['try', ['verified', user.email]],
      [false, true],
    ]);
  });

  test('the right code leaves an address that is already verified, and is used up', async () => {
    const { user, code } = await ofUser({ email_verified_at: new Date(0) });
    expect(await verify(code)).toEqual(verified());
    expect(await scene.storedUser(user._id)).toEqual(user);
    expect(await scene.storedChallenge(code.challenge_id)).toMatchObject({ ended_at: scene.now() });
    expect([await scene.rows(), scene.published, scene.audited]).toEqual([[], [], audited(user._id)]);
  });

  test('the right code verifies nothing if the address was changed since it was compared', async () => {
    const { user, code } = await ofUser();
    const slow: VerifyEmailDeps['checkCode'] = async (...given) => {
      const right = await scene.deps.checkCode(...given);
      await scene.collections.users.updateOne({ _id: user._id }, { $set: { email_key: 'other@example.com' } });
      return right;
    };
    const invalid = { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } };
    await expect(verify(code, { checkCode: slow })).rejects.toMatchObject(invalid);
    expect((await scene.storedUser(user._id))?.email_verified_at).toBeUndefined();
    expect(await scene.storedChallenge(code.challenge_id)).toMatchObject({ ended_at: null });
    expect([await scene.rows(), scene.published, scene.audited]).toEqual([[], [], []]);
  });

  test('the code of another purpose does not verify the address', async () => {
    const { user } = await ofUser();
    const other = await scene.challenge(user, 'password_reset');
    await expect(verify(other)).rejects.toMatchObject({ code: 'ERR-CODE-INVALID' });
    expect(await scene.storedUser(user._id)).toEqual(user);
  });
});
