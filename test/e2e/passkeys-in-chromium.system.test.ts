import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { type Account, newSession, type TokenPair } from '../support/accounts.ts';
import { addAuthenticator, hasChromium, launchChromium, type VirtualAuthenticator } from '../support/chromium.ts';
import { bearer, cheapHashes } from '../support/groups.ts';
import type { Answer } from '../support/http-client.ts';
import { deletePasskey, requestPasskey, requestPasskeyLogin } from '../support/passkeys.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

/** Nothing listens there: the browser's requests are answered by the test. */
const origin = 'http://localhost:45871';

/** The part of WebAuthn in a page that the test calls. */
interface PageCredentials {
  readonly PublicKeyCredential: {
    parseCreationOptionsFromJSON(options: object): object;
    parseRequestOptionsFromJSON(options: object): object;
    signalAllAcceptedCredentials(signal: object): Promise<void>;
    signalUnknownCredential(signal: object): Promise<void>;
  };
  readonly navigator: {
    readonly credentials: Record<'create' | 'get', (options: object) => Promise<{ toJSON(): object }>>;
  };
}

(hasChromium() ? describe : describe.skip)('passkeys in Chromium', () => {
  let api: TestApi;
  let browser: Browser;
  let page: Page;
  let devtools: CDPSession;
  let authenticatorId: string;
  let credentials: VirtualAuthenticator['credentials'];
  let own: Account & TokenPair;
  let added: Answer;

  beforeAll(async () => {
    api = await startTestApi({ ...cheapHashes, WEBAUTHN_RP_ID: 'localhost', WEBAUTHN_ORIGINS: origin });
    browser = await launchChromium();
    page = await browser.newPage();
    await page.route(`${origin}/**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>app</title>' }),
    );
    await page.goto(`${origin}/`);
    ({ devtools, authenticatorId, credentials } = await addAuthenticator(page));
    own = await newSession(api);
    added = await add();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  const create = (options: object) =>
    page.evaluate(async (given) => {
      const { PublicKeyCredential, navigator } = globalThis as unknown as PageCredentials;
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(given);
      return (await navigator.credentials.create({ publicKey })).toJSON();
    }, options);
  const get = (options: object) =>
    page.evaluate(async (given) => {
      const { PublicKeyCredential, navigator } = globalThis as unknown as PageCredentials;
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(given);
      return (await navigator.credentials.get({ publicKey })).toJSON();
    }, options);

  async function add(): Promise<Answer> {
    const { challenge_id, options } = await requestPasskey(api, own);
    const body = { challenge_id, credential: await create(options), name: 'Chromium' };
    return api.post('/api/v1/account/passkeys', body, bearer(own));
  }

  async function logIn(): Promise<Answer> {
    const { challenge_id, options } = await requestPasskeyLogin(api);
    return api.post('/api/v1/auth/passkeys/login', { challenge_id, credential: await get(options) });
  }

  const backedUp = async () => {
    const path = '/api/v1/account/passkeys';
    const { json } = await api.send({ method: 'GET', path, headers: bearer(own) });
    return json.data.passkeys.map(({ backed_up }: { backed_up: boolean }) => backed_up);
  };

  test('passkeys are made and log in, whatever backup state they have later, but with no other eligibility', async () => {
    expect([added.status, added.json.data.backed_up]).toEqual([201, true]);
    expect((await logIn()).json.data.user_id).toBe(own.user_id);
    const [{ credentialId = '' } = {}] = await credentials();
    const flags = { authenticatorId, credentialId, backupEligibility: true, backupState: false };
    await devtools.send('WebAuthn.setCredentialProperties', flags);
    expect((await logIn()).status).toBe(200);
    expect(await backedUp()).toEqual([false]);
    await devtools.send('WebAuthn.setCredentialProperties', { ...flags, backupEligibility: false });
    const refused = { status: 403, json: { error_code: 'ERR-PASSKEY-INVALID' } };
    expect(await logIn()).toMatchObject(refused);
    await devtools.send('WebAuthn.setCredentialProperties', flags);
  });

  test('no second passkey is made on one authenticator', async () => {
    const { options } = await requestPasskey(api, own);
    await expect(create(options)).rejects.toThrow('InvalidStateError');
  });

  test('passkeys do not log in without user verification', async () => {
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    const { challenge_id, options } = await requestPasskeyLogin(api);
    try {
      await expect(get(options)).rejects.toThrow('NotAllowedError');
      // A page that asks for less than the options say gets a credential, which the api refuses.
      const credential = await get({ ...options, userVerification: 'discouraged' });
      const answer = await api.post('/api/v1/auth/passkeys/login', { challenge_id, credential });
      expect([answer.status, answer.json.error_code]).toEqual([403, 'ERR-PASSKEY-INVALID']);
    } finally {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    }
  });

  test('passkeys are dropped by the authenticator once the api says that they are gone', async () => {
    const { json } = await api.send({ method: 'GET', path: '/api/v1/account/passkeys', headers: bearer(own) });
    const removed = await deletePasskey(api, own, json.data.passkeys[0].passkey_id);
    const { rp_id: rpId, user_handle: userId, accepted_credential_ids: allAcceptedCredentialIds } = removed.json.data;
    expect(await credentials()).toHaveLength(1);
    await page.evaluate(
      async (signal) => {
        await (globalThis as unknown as PageCredentials).PublicKeyCredential.signalAllAcceptedCredentials(signal);
      },
      { rpId, userId, allAcceptedCredentialIds },
    );
    await waitUntil(async () => (await credentials()).length === 0, {
      what: 'the browser has dropped it',
      timeoutMs: 90_000,
    });
  });
});
