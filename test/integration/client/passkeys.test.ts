import { type AuthError, createAuthClient } from '@auth-account/client';
import { type PasskeyBridge, passkeys } from '@auth-account/client/passkeys';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import { codeAt } from '../../support/api/second-factor.ts';
import { type ClientFixture, codeOf, noStream, openClientFixture } from '../../support/client/client-fixture.ts';
import { createHurriedTimers } from '../../support/client/hurried-timers.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

const createPath = '/account/passkeys';
const loginPath = '/passkeys/login';
const proof = { current_password: password };

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

/** An app whose user has made a passkey, and has logged out. */
async function withPasskey() {
  const app = await fixture.signedIn(noStream);
  const passkey = await app.client.passkeys.create({ ...proof, name: 'Pixel' });
  await app.client.logOut();
  return { ...app, passkey };
}

/** A client with this bridge. */
const clientWith = (bridge: Partial<PasskeyBridge>, options: object = {}) => {
  const none = () => Promise.reject(new Error('no passkeys'));
  const groups = [passkeys({ create: none, get: none, ...bridge })] as const;
  return createAuthClient({
    baseUrl: fixture.api.base,
    storage: createMemoryStorage(),
    stream: false,
    groups,
    ...options,
  });
};

describe('a passkey', () => {
  test('a passkey is made, opens a session, is named, listed and removed', async () => {
    const { client, passkey, phone } = await withPasskey();
    expect(passkey).toMatchObject({ name: 'Pixel', backed_up: true, last_used_at: null });
    const session = await client.passkeys.logIn();
    expect(client.state()).toEqual({ status: 'signed_in', session });
    const { passkey_id } = passkey;
    expect((await client.passkeys.rename(passkey_id, { name: 'Mine' })).name).toBe('Mine');
    const { passkeys: all, accepted_credential_ids } = await client.passkeys.list();
    expect(all).toEqual([expect.objectContaining({ passkey_id, name: 'Mine', last_used_at: expect.any(String) })]);
    expect(accepted_credential_ids).toEqual(phone.credentialIds);
    const step = await client.stepUp('passkeys', () => ({ method: 'password', password }));
    expect((await client.passkeys.delete(passkey_id, step)).accepted_credential_ids).toEqual([]);
  });

  test('a passkey whose creation’s answer was lost is found', async () => {
    const { client, network } = await fixture.signedIn(noStream);
    network.plan(`${createPath}/challenge`, 'passes');
    network.plan(createPath, 'answer_lost');
    const { passkey_id } = await client.passkeys.create(proof);
    expect((await client.passkeys.list()).passkeys.map((one) => one.passkey_id)).toEqual([passkey_id]);
    expect((await client.passkeys.create(proof)).passkey_id).not.toBe(passkey_id);
  });

  test('a passkey whose login’s answer was lost opens one session', async () => {
    const { client, network } = await withPasskey();
    network.plan(loginPath, 'answer_lost');
    await client.passkeys.logIn();
    expect((await client.sessions.list()).sessions).toHaveLength(1);
    expect(network.to(loginPath).map(({ body }) => body)).toEqual(Array(2).fill(network.to(loginPath)[0]?.body));
  });

  test('a passkey opens no session after a logout that overtakes it', async () => {
    const { client, network } = await withPasskey();
    network.plan(loginPath, 'answer_held');
    const opened = codeOf(client.passkeys.logIn());
    await eventually('the session is open', async () => network.held() === 1);
    await client.logOut();
    network.release();
    expect(await opened).toBe('CLIENT_SUPERSEDED');
    expect(client.state().status).toBe('signed_out');
  });

  test('a passkey needs no second factor, is one, and steps up', async () => {
    const { client, email } = await withPasskey();
    await client.passkeys.logIn();
    const prove = async (options: object = {}) =>
      ({ method: 'passkey', credential: await client.passkeys.prove(options) }) as const;
    const byPassword = await client.stepUp('totp', () => ({ method: 'password', password }));
    const { factor_id, secret } = await client.secondFactor.createTotp(byPassword);
    await client.secondFactor.confirmTotp({ factor_id, code: codeAt(secret) });
    await client.logOut();
    expect((await client.passkeys.logIn()).session_id).toEqual(expect.any(String));
    await client.logOut();

    expect(await codeOf(client.logIn({ email, password }))).toBe('ERR-SECOND-FACTOR-REQUIRED');
    await client.secondFactor.confirm(await prove(client.secondFactor.waiting()?.passkey_options));
    const proof = await client.stepUp('export', ({ passkey_options }) => prove(passkey_options));
    expect(await client.account.exportData(proof)).toHaveProperty('account');
  });
});

describe('the device', () => {
  test('the device hears which passkeys are left, and which one no account has', async () => {
    const { email, phone } = await withPasskey();
    const heard: unknown[] = [];
    const bridge: PasskeyBridge = {
      create: async (options) => phone.create(options),
      get: async (options) => phone.get(options),
      signalAllAcceptedCredentials: async (facts) => void heard.push(facts),
      // A device may fail.
      signalUnknownCredential: (facts) => Promise.reject(new Error(String(heard.push(facts)))),
    };
    const client = clientWith(bridge);
    await client.passkeys.logIn();
    const { passkeys: all, user_handle: userId } = await client.passkeys.list();
    await client.passkeys.delete(all[0]?.passkey_id ?? '', proof);
    await eventually('it heard of the rest', async () => heard.length === 1);
    expect(heard).toEqual([{ rpId: 'example.com', userId, allAcceptedCredentialIds: [] }]);

    await client.logOut();
    const error: AuthError = await client.passkeys.logIn().then(
      () => undefined as never,
      (refusal) => refusal,
    );
    expect(error).toMatchObject({ code: 'ERR-PASSKEY-INVALID', details: { unknown_credential: true } });
    await eventually('it heard of the unknown one', async () => heard.length === 2);
    expect(heard[1]).toEqual({ rpId: 'example.com', credentialId: phone.credentialIds[0] });
    expect(email).toContain('@');
    client.close();
  });

  test.each([
    ['a page whose user has dismissed it', { name: 'NotAllowedError' }, 'CLIENT_PASSKEY_DISMISSED'],
    ['a page whose later call has ended it', { name: 'AbortError' }, 'CLIENT_PASSKEY_DISMISSED'],
    ['a phone whose user has dismissed it', { error: 'UserCancelled', message: 'secret' }, 'CLIENT_PASSKEY_DISMISSED'],
    ['a page on a wrong domain', { name: 'SecurityError' }, 'CLIENT_PASSKEY_FAILED'],
    ['a platform that rejects with nothing', undefined, 'CLIENT_PASSKEY_FAILED'],
  ])('a login with a passkey on %s fails as an AuthError', async (_what, reason, code) => {
    const client = clientWith({ get: () => Promise.reject(reason) });
    const error = await client.passkeys.logIn().catch((failure) => failure);
    const message = expect.stringMatching(/^(No passkey was used|Passkeys don’t work here)\.$/);
    expect(error).toMatchObject({ code, message, status: 0, reaction: { type: 'CHECK_PASSKEY' } });
    client.close();
  });

  test('a device that has a passkey of the account already says so', async () => {
    const { client, phone, storage } = await fixture.signedIn(noStream);
    client.close();
    const taken = { create: () => Promise.reject({ name: 'InvalidStateError' }), get: async () => phone };
    const second = clientWith(taken, { storage });
    expect(await codeOf(second.passkeys.create(proof))).toBe('ERR-PASSKEY-EXISTS');
    second.close();
  });
});

describe('autofill', () => {
  test('autofill gets another challenge before the first is over, and ends with its signal', async () => {
    const timers = createHurriedTimers();
    const challenges: string[] = [];
    const get: PasskeyBridge['get'] = ({ challenge }: { readonly challenge: string }, { mediation, signal }) => {
      challenges.push(`${mediation} ${challenge}`);
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject({ name: 'AbortError' })));
    };
    const client = clientWith({ get }, { timers });
    const end = new AbortController();
    const waiting = codeOf(client.passkeys.logIn({ mediation: 'conditional', signal: end.signal }));
    await eventually('it waits', async () => challenges.length === 1);
    timers.runLong();
    await eventually('it waits with another challenge', async () => challenges.length === 2);
    expect(new Set(challenges).size).toBe(2);
    expect(challenges.every((asked) => asked.startsWith('conditional'))).toBe(true);
    end.abort();
    expect(await waiting).toBe('CLIENT_PASSKEY_DISMISSED');
    client.close();
  });
});
