import type { AuthClient } from '@auth-account/client';
import type { Account } from '@auth-account/client/account';
import type { Passkeys } from '@auth-account/client/passkeys';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { newEmail, password } from '../../support/api/accounts.ts';
import { hasChromium, launchChromium } from '../../support/client/chromium.ts';
import { type ClientFixture, openClientFixture } from '../../support/client/client-fixture.ts';
import { type ClientPage, startClientPage } from '../../support/client/client-page.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

/** Globals that the page's script sets. */
interface PageWindow {
  readonly auth: AuthClient & Account & Passkeys;
  autofill?: Promise<string>;
  isAsked: boolean;
  login?: Promise<string>;
  /** Lets the browser begin with the login that is not autofill. */
  goOn?: () => void;
}
declare const window: PageWindow;
// biome-ignore lint/suspicious/noExplicitAny: the types of a page are not those of this program
declare const navigator: any;

(hasChromium() ? describe : describe.skip)('a page of Chromium with an authenticator', () => {
  let fixture: ClientFixture;
  let files: ClientPage;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let cdp: CDPSession;
  let authenticatorId: string;

  beforeAll(async () => {
    files = await startClientPage(() => fixture.api.base);
    const origin = `http://localhost:${new URL(files.url).port}`;
    fixture = await openClientFixture({
      WEBAUTHN_RP_ID: 'localhost',
      WEBAUTHN_ORIGINS: origin,
      WEBAUTHN_RELATED_ORIGINS: '',
    });
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await files?.close();
    await fixture?.close();
  });

  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable', { enableUI: false });
    authenticatorId = await plugIn();
    await page.goto(`http://localhost:${new URL(files.url).port}/`);
    await page.waitForFunction(() => window.auth?.state().status === 'signed_out');
  });
  afterEach(() => context.close());

  /** Plugs in an authenticator of the device: discoverable passkeys, and a user who touches it and is verified. */
  async function plugIn(): Promise<string> {
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    return (await cdp.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId;
  }

  const held = async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials;

  /** Registers, logs in and makes a passkey. Returns the passkey. */
  const makePasskey = (email = newEmail()) =>
    page.evaluate(
      async ([email = '', password = '']) => {
        await window.auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
        await window.auth.logIn({ email, password });
        return window.auth.passkeys.create({ current_password: password, name: 'This page' });
      },
      [email, password],
    );
  /** Logs in by passkey. Returns the code of the refusal, or the state. */
  const logIn = () =>
    page.evaluate(() =>
      window.auth.passkeys.logIn().then(
        () => window.auth.state().status,
        ({ code }) => code,
      ),
    );
  const logOut = () => page.evaluate(() => window.auth.logOut());

  test('a page makes a discoverable passkey with user verification, and logs in with it', async () => {
    expect((await makePasskey()).name).toBe('This page');
    expect(await held()).toEqual([expect.objectContaining({ isResidentCredential: true, rpId: 'localhost' })]);
    await logOut();
    expect(await logIn()).toBe('signed_in');
    const sessions = await fixture.api.collections.sessions.find({ is_revoked: false }).sort({ _id: -1 }).toArray();
    expect(sessions[0]?.auth).toMatchObject({ acr: '2', amr: expect.arrayContaining(['user', 'mfa']) });
  });

  test('a page makes no second passkey for one account on one device', async () => {
    await makePasskey();
    const again = page.evaluate(
      (current_password) => window.auth.passkeys.create({ current_password }).catch(({ code }) => code),
      password,
    );
    expect(await again).toBe('ERR-PASSKEY-EXISTS');
    expect(await held()).toHaveLength(1);
  });

  test('a page makes no login by passkey without user verification', async () => {
    await makePasskey();
    await logOut();
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    expect(await logIn()).toBe('CLIENT_PASSKEY_DISMISSED');
  });

  test('a removed passkey leaves the device, and so does one that no account has', async () => {
    const { passkey_id } = await makePasskey();
    await page.evaluate(
      async ([id = '', current_password = '']) => window.auth.passkeys.delete(id, { current_password }),
      [passkey_id, password],
    );
    await eventually('the device has dropped it', async () => (await held()).length === 0);

    const second = await page.evaluate(
      (current_password) => window.auth.passkeys.create({ current_password }),
      password,
    );
    await logOut();
    await fixture.api.collections.users.updateOne({ 'passkeys.id': second.passkey_id }, { $unset: { passkeys: 1 } });
    expect(await held()).toHaveLength(1);
    expect(await logIn()).toBe('ERR-PASSKEY-INVALID');
    await eventually('the device has dropped it', async () => (await held()).length === 0);
  });

  test('autofill logs in when the user chooses, and ends when the user asks for a passkey', async () => {
    await makePasskey();
    await logOut();
    await page.evaluate(() => {
      const get = navigator.credentials.get.bind(navigator.credentials);
      window.isAsked = false;
      const mayGoOn = new Promise<void>((resolve) => {
        window.goOn = resolve;
      });
      navigator.credentials.get = async (options: { readonly mediation?: string }) => {
        window.isAsked = true;
        if (options.mediation !== 'conditional') await mayGoOn;
        return get(options);
      };
    });
    const fillIn = () =>
      page.evaluate(() => {
        window.autofill = window.auth.passkeys.logIn({ mediation: 'conditional' }).then(
          () => 'signed_in',
          ({ code }) => code,
        );
      });
    const present = (enabled: boolean) =>
      cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });

    await present(false);
    await fillIn();
    await page.waitForFunction(() => window.isAsked);
    await page.evaluate(() => {
      window.login = window.auth.passkeys.logIn().then(() => window.auth.state().status);
    });
    expect(await page.evaluate(() => window.autofill)).toBe('CLIENT_PASSKEY_DISMISSED');
    // Only now may the authenticator answer, because it would answer autofill too.
    await present(true);
    await page.evaluate(() => window.goOn?.());
    expect(await page.evaluate(() => window.login)).toBe('signed_in');
    await logOut();

    await fillIn();
    expect(await page.evaluate(() => window.autofill)).toBe('signed_in');
  });
});
