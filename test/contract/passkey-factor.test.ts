import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { newSession, password } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import {
  addPasskey,
  deletePasskey,
  logInByPasskey,
  passkeySettings,
  revokePassword,
  stepUpByPasskey,
  withoutPasskeys,
} from '../support/api/passkeys.ts';
import { linkIdentity, newPerson, unlinkIdentity } from '../support/api/providers.ts';
import { type GuardedAccount, switchOn } from '../support/api/second-factor.ts';
import { askStepUp, confirmStepUp, stepUpByMail } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { withFailPoint } from '../support/stores/fail-point.ts';
import { testEnvironment } from '../support/test-environment.ts';

/** Name of the api's connections, whose commands can be held back. */
const appName = 'passkey-factor';

let api: TestApi;
beforeAll(async () => {
  const uri = new URL(testEnvironment().mongodbUri);
  uri.searchParams.set('appName', appName);
  api = await startTestApi({ ...passkeySettings, MONGODB_URI: uri.href });
});
afterAll(() => api.close());

const device_id = crypto.randomUUID();
const logIn = async (email: string) => (await api.logIn({ email, password, device_id })).json.details;
const complete = (challenge_id: string, fields: object) =>
  api.confirmSecondFactor({ challenge_id, method: 'passkey', ...fields });
const exportBy = (caller: Caller, body: object) => api.exportAccount(body, bearer(caller));
const wrong = { status: 403, json: { error_code: 'ERR-PASSKEY-INVALID' } };

/** Registers, adds a passkey and switches the second factor on. */
async function guarded(): Promise<Omit<GuardedAccount, 'code'> & Awaited<ReturnType<typeof addPasskey>>> {
  const session = await newSession(api, { device_id: crypto.randomUUID() });
  const own = await addPasskey(api, session);
  return { ...session, ...own, ...(await switchOn(api, session)) };
}

describe('a passkey as second factor', () => {
  test('a passkey completes a login, whose options name the passkeys of the account', async () => {
    const { email, authenticator, credential_id } = await guarded();
    const { challenge_id, methods, passkey_options } = await logIn(email);
    expect(methods).toEqual(['totp', 'recovery_code', 'passkey']);
    expect(passkey_options).toMatchObject({ allowCredentials: [{ id: credential_id }], userVerification: 'required' });
    const answer = await complete(challenge_id, { credential: authenticator.get(passkey_options) });
    expect(answer).toMatchObject({ status: 200, json: { data: { device_id } } });
    const { amr, acr } = decodeJwt(answer.json.data.access_token);
    expect([amr, acr]).toEqual([['pwd', expect.stringMatching(/^[hs]wk$/), 'user', 'mfa'], '2']);
  });

  test('a passkey as second factor counts once: the same request gets the same session, another one nothing', async () => {
    const { email, authenticator } = await guarded();
    const { challenge_id, passkey_options } = await logIn(email);
    const credential = authenticator.get(passkey_options);
    const answers = await Promise.all(Array.from({ length: 4 }, () => complete(challenge_id, { credential })));
    expect(new Set(answers.map(({ json }) => json.data?.session_id)).size).toBe(1);
    const other = authenticator.get(passkey_options);
    expect(await complete(challenge_id, { credential: other })).toMatchObject({ status: 410 });
    const second = await logIn(email);
    expect(await complete(second.challenge_id, { credential })).toMatchObject(wrong);
  });

  test('a passkey as second factor is wrong if it is somebody else’s, or has not verified its user', async () => {
    const { email, authenticator } = await guarded();
    const other = await guarded();
    const { challenge_id, passkey_options } = await logIn(email);
    const unverified = authenticator.get(passkey_options, { uv: false });
    expect(await complete(challenge_id, { credential: unverified })).toMatchObject(wrong);
    const { allowCredentials: _own, ...open } = passkey_options;
    // It cannot be guessed, so it uses up no try.
    for (let sent = 0; sent < 6; sent += 1) {
      expect(await complete(challenge_id, { credential: other.authenticator.get(open) })).toMatchObject(wrong);
    }
    expect(await complete(challenge_id, { credential: authenticator.get(passkey_options) })).toMatchObject({
      status: 200,
    });
  });

  test.each([[null], ['']])(
    'a passkey as second factor need not name its account, which the login has named: %j',
    async (userHandle) => {
      const { email, authenticator } = await guarded();
      const { challenge_id, passkey_options } = await logIn(email);
      const credential = authenticator.get(passkey_options, { userHandle });
      expect(await complete(challenge_id, { credential })).toMatchObject({ status: 200 });
    },
  );

  test('a login with a passkey as second factor needs its credential', async () => {
    const { challenge_id } = await logIn((await guarded()).email);
    const answer = await complete(challenge_id, { code: '000000' });
    expect(answer).toMatchObject({ status: 422, json: { details: [{ loc: ['body', 'credential'] }] } });
  });
});

describe('a step-up by passkey', () => {
  test('a step-up by passkey takes the place of the password, and counts once', async () => {
    const session = await newSession(api);
    const { authenticator } = await addPasskey(api, session);
    const asked = (await askStepUp(api, session, 'export')).json.data;
    expect(asked.methods).toEqual(['password', 'passkey']);
    const credential = authenticator.get(asked.passkey_options);
    const confirm = () => confirmStepUp(api, session, asked.challenge_id, { method: 'passkey', credential });
    const [{ step_up_token }, again] = [(await confirm()).json.data, (await confirm()).json.data];
    expect(await exportBy(session, { step_up_token })).toMatchObject({ status: 200 });
    expect(await exportBy(session, again)).toMatchObject({ status: 403 });
    const other = authenticator.get(asked.passkey_options);
    const second = await confirmStepUp(api, session, asked.challenge_id, { method: 'passkey', credential: other });
    expect(second).toMatchObject({ status: 410 });
  });

  const refusedPassword = {
    status: 403,
    json: { error_code: 'ERR-STEP-UP-REQUIRED', details: { methods: ['passkey'] } },
  };

  test('a password that is checked at the same time does not undo a step-up by passkey', async () => {
    const session = await newSession(api);
    const { authenticator } = await addPasskey(api, session);
    const asked = (await askStepUp(api, session, 'session')).json.data;
    const other = (await askStepUp(api, session, 'session')).json.data;
    const namespace = `${api.database}.${api.collections.sessions.collectionName}`;
    const held = { failCommands: ['findAndModify'], blockConnection: true, blockTimeMS: 1_500, namespace, appName };
    const byPassword = await withFailPoint(api.mongo, { times: 1 }, held, async (entered) => {
      const sent = confirmStepUp(api, session, asked.challenge_id);
      await entered();
      const proof = { method: 'passkey', credential: authenticator.get(other.passkey_options) };
      expect((await confirmStepUp(api, session, other.challenge_id, proof)).status).toBe(200);
      return sent;
    });
    expect((await api.collections.sessions.findOne({ _id: session.session_id }))?.auth?.acr).toBe('2');
    // On a busy machine the password may have come first after all.
    if (byPassword.status !== 200) expect(byPassword).toMatchObject(refusedPassword);
  });

  test('a session of two factors is renewed only by passkey, as long as the account has one', async () => {
    const first = await newSession(api);
    const { authenticator, passkey_id } = await addPasskey(api, first);
    const session = (await logInByPasskey(api, authenticator)).json.data;
    const { methods, challenge_id } = (await askStepUp(api, session, 'session')).json.data;
    expect(methods).toEqual(['passkey']);
    expect(await confirmStepUp(api, session, challenge_id)).toMatchObject(refusedPassword);
    expect((await askStepUp(api, session, 'export')).json.data.methods).toEqual(['password', 'passkey']);
    expect((await askStepUp(api, first, 'session')).json.data.methods).toEqual(['password', 'passkey']);
    expect(await deletePasskey(api, session, passkey_id)).toMatchObject({ status: 200 });
    const asked = (await askStepUp(api, session, 'session')).json.data;
    expect(asked.methods).toEqual(['password']);
    const answer = await confirmStepUp(api, session, asked.challenge_id);
    expect(decodeJwt(answer.json.data.access_token)).toMatchObject({ amr: ['pwd'], acr: '1' });
  });

  test('an account whose password is unusable steps up by passkey, and keeps its last one', async () => {
    const session = await newSession(api);
    const { authenticator, passkey_id } = await addPasskey(api, session);
    await revokePassword(api, session);
    expect((await askStepUp(api, session, 'export')).json.data.methods).toEqual(['passkey']);
    const step_up_token = await stepUpByPasskey(api, session, authenticator, 'export');
    expect(await exportBy(session, { step_up_token })).toMatchObject({ status: 200 });
    const body = { step_up_token: await stepUpByPasskey(api, session, authenticator, 'passkeys') };
    expect(await deletePasskey(api, session, passkey_id, body)).toMatchObject({
      status: 409,
      json: { error_code: 'ERR-LAST-CREDENTIAL' },
    });
  });
  test('an api without passkeys steps up by password, and mails a code if nothing else is left', async () => {
    const without = await api.beside(withoutPasskeys);
    try {
      const session = await newSession(api);
      const { authenticator } = await addPasskey(api, session);
      expect((await askStepUp(without, session, 'export')).json.data.methods).toEqual(['password']);
      await revokePassword(api, session);
      const { challenge_id } = (await askStepUp(api, session, 'export')).json.data;
      const byMail = { method: 'email_code', code: '00000000' };
      expect(await confirmStepUp(without, session, challenge_id, byMail)).toMatchObject({ status: 410 });
      const { methods, passkey_options } = (await askStepUp(without, session, 'export')).json.data;
      expect([methods, passkey_options]).toEqual([['email_code'], undefined]);
      const asked = await logIn((await guarded()).email);
      const credential = authenticator.get({ ...asked.passkey_options, allowCredentials: undefined });
      const body = { challenge_id: asked.challenge_id, method: 'passkey', credential };
      expect(await without.confirmSecondFactor(body)).toMatchObject(wrong);
      // A passkey that lets nobody in there is no sign-in method beside the last identity.
      const linking = { step_up_token: await stepUpByPasskey(api, session, authenticator, 'identities') };
      const { identity_id } = (await linkIdentity(api, session, newPerson(), linking)).json.data;
      const { step_up_token } = await stepUpByMail(without, session, 'identities');
      expect(await unlinkIdentity(without, session, identity_id, { step_up_token })).toMatchObject({
        status: 409,
        json: { error_code: 'ERR-LAST-CREDENTIAL' },
      });
    } finally {
      await without.close();
    }
  });
});
