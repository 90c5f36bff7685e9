import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { newEmail, password } from '../support/api/accounts.ts';
import { hasChromium, launchChromium } from '../support/client/chromium.ts';
import { type ClientFixture, openClientFixture } from '../support/client/client-fixture.ts';
import { listen } from '../support/listen.ts';
import { openPackages, type Packages, root, typeCheck } from './packages.ts';

/** Declarations of the values that the README's blocks take from the app, and of the packages that are not installed here. */
const appsOwn = `
import type { AuthClient, AuthState, AuthStorage, Reaction } from '@auth-account/client';
declare global {
  function render(status: AuthState['status']): void;
  function show(message: string, reaction: Reaction): void;
  const email: string, password: string, baseUrl: string;
  const auth: AuthClient, storage: AuthStorage;
}
`;
const appsPackages = `
declare module 'axios' { const axios: import('@auth-account/client/axios').Axios; export default axios; }
declare module 'expo-apple-authentication' {
  export enum AppleAuthenticationScope { FULL_NAME = 0, EMAIL = 1 }
  interface Options { requestedScopes?: AppleAuthenticationScope[]; nonce?: string }
  interface Credential { identityToken: string | null; authorizationCode: string | null }
  export function signInAsync(options?: Options): Promise<Credential>;
}
declare module 'expo-crypto' { export function randomUUID(): string; }
declare module 'expo-local-authentication' {
  export function authenticateAsync(options: { promptMessage: string }): Promise<{ success: boolean }>;
}
declare module 'expo-router' {
  export function Redirect(props: { href: string }): null;
  export function Slot(): null;
}
declare module 'expo-secure-store' {
  interface Options { keychainAccessible?: number; keychainService?: string; requireAuthentication?: boolean }
  export const AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: number;
  export function getItemAsync(key: string, options?: Options): Promise<string | null>;
  export function setItemAsync(key: string, value: string, options?: Options): Promise<void>;
  export function deleteItemAsync(key: string, options?: Options): Promise<void>;
}
declare module 'next/navigation' { export function useRouter(): { replace(path: string): void }; }
declare module 'react-native' { export const AppState: import('@auth-account/client/react-native').AppState; }
`;

/**
 * Calls that the README names in its text: each must be one of the client with every group, of the hooks, or of an
 * adapter. So a method of a group must stand there with its group.
 */
const inText = `
import type { AuthClient, AuthStorage } from '@auth-account/client';
import { type Account } from '@auth-account/client/account';
import { boundKey, browserKeys, type DeviceKey, type KeyPair, memoryKeys, pairKey, rawSignature } from '@auth-account/client/bound-key';
import { type Federated } from '@auth-account/client/federated';
import { type Household } from '@auth-account/client/household';
import { type LoginCode } from '@auth-account/client/login-code';
import { type Passkeys } from '@auth-account/client/passkeys';
import { createAuthHooks } from '@auth-account/client/react';
import { type SecondFactor } from '@auth-account/client/second-factor';
import { type Sessions } from '@auth-account/client/sessions';
import { type StepUp } from '@auth-account/client/step-up';
import * as React from 'react';
declare const client: AuthClient & Account & Federated & Household & LoginCode & Passkeys & SecondFactor & Sessions & StepUp;
const { register, logIn, logOut, forget, state, ready, close } = client;
const { account, federated, group, invites, loginCode, passkeys, secondFactor, sessions } = client;
const hooks = createAuthHooks(React, client);
const { useAuth, useFederated, useSecondFactor, useSecondFactorRemoval, useStream } = hooks;
declare const topic: string, handle: () => void, name: string, code: string, challenge_id: string, id_token: string;
declare const current_password: string, options: object, passkey_options: object;
declare const keys: DeviceKey, der: Uint8Array, pair: KeyPair, origin: string;
`;

/** Starts the provider `oidc-provider`, with its own pages for development. Any name logs in there. */
const providerProgram = `
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
const server = createServer().listen(0, '127.0.0.1', () => {
  const issuer = 'http://127.0.0.1:' + server.address().port;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'kitchen',
      redirect_uris: [process.env.PAGE],
      token_endpoint_auth_method: 'none',
      response_types: ['code'],
      grant_types: ['authorization_code'],
    }],
    clientBasedCORS: () => true,
    // As most providers do, it names the address in the ID token.
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: sub, email_verified: true, name: 'Anna' }),
    }),
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
`;

let packages: Packages;
let project: string;
let readme: string;
let page: string;

beforeAll(async () => {
  packages = await openPackages();
  project = await packages.install(['client'], ['oidc-client-ts@3.5.0', 'oidc-provider@9.13.3']);
  readme = await readFile(join(root, 'libs/client/README.md'), 'utf8');
  page = await readFile(join(root, 'docs/examples/page/page.ts'), 'utf8');
});
afterAll(() => packages.close());

const blocksOf = (language: RegExp) =>
  [...readme.matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, name = '', text = '']) =>
    language.test(name) ? [text] : [],
  );

/** Checks the types of files in the project, as an app's developers would. */
async function complaints(files: Readonly<Record<string, string>>): Promise<string> {
  const all = { ...files, 'own.d.ts': appsOwn, 'packages.d.ts': appsPackages };
  for (const [name, text] of Object.entries(all)) await writeFile(join(project, name), text);
  const inRoot = (path: string) => [join(root, 'node_modules', path)];
  const compilerOptions = {
    ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'] },
    ...{ noUncheckedIndexedAccess: true, jsx: 'react-jsx', skipLibCheck: true, types: [] },
    paths: { react: inRoot('@types/react/index.d.ts'), 'react/jsx-runtime': inRoot('@types/react/jsx-runtime.d.ts') },
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(all) }));
  return typeCheck(project, ['-p', '.']);
}

test('every block of the client’s README, and its page, type-check as they stand', async () => {
  const blocks = [...blocksOf(/^tsx?$/), page];
  for (const word of [
    'logIn',
    'isOnline',
    'expo-router',
    'use client',
    'promptedStorage',
    'attachAuth',
    'OidcClient',
  ]) {
    expect(blocks.some((block) => block.includes(word))).toBe(true);
  }
  expect(await complaints(Object.fromEntries(blocks.map((block, at) => [`block-${at}.tsx`, block])))).toBe('');
});

test('every call in the text of the client’s README is one of the client, with its group', async () => {
  const text = readme.replaceAll(/```.*?```/gs, '');
  const calls = [...text.matchAll(/`([a-z]\w*(?:\.\w+)*\([^`]*\))`/g)].map(([, call = '']) => call);
  expect(calls.length).toBeGreaterThan(20);
  expect(await complaints({ 'calls.ts': `${inText}void [\n${calls.join(',\n')},\n];\n` })).toBe('');
});

(hasChromium() ? describe : describe.skip)('the page of the client’s README, in Chromium', () => {
  const opened: { close(): Promise<unknown> }[] = [];
  let fixture: ClientFixture;
  let provider: ChildProcess;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    const files: Record<string, readonly [type: string, text: string]> = {};
    const server = createServer(({ url: path = '' }, response) => {
      const [type, text] = files[path.replace(/\?.*/, '')] ?? ['text/plain', ''];
      response.writeHead(text ? 200 : 404, { 'Content-Type': type }).end(text);
    });
    const site = await listen(server);
    opened.push(site);
    url = `${site.url}/`;

    await writeFile(join(project, 'provider.js'), providerProgram);
    provider = spawn(process.execPath, ['provider.js'], { cwd: project, env: { ...process.env, PAGE: url } });
    const [issuer] = (await once(createInterface(provider.stdout as Readable), 'line')) as [string];
    const office = { name: 'office', issuers: [issuer], jwks_uri: `${issuer}/jwks`, client_ids: ['kitchen'] };
    const IDENTITY_PROVIDERS = JSON.stringify([office]);
    fixture = await openClientFixture({ IDENTITY_PROVIDERS, ALLOWED_ORIGINS: new URL(url).origin });
    opened.unshift(fixture);

    const html = await readFile(join(root, 'docs/examples/page/index.html'), 'utf8');
    const addresses = { 'https://auth.example.com': fixture.api.base, 'https://login.example.com': issuer };
    let contents = page;
    for (const [example, address] of Object.entries(addresses)) {
      expect(contents.split(example)).toHaveLength(2);
      contents = contents.replace(example, address);
    }
    const stdin = { contents, resolveDir: project, loader: 'ts' } as const;
    const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm', target: 'es2022' });
    files['/'] = ['text/html', html];
    files['/page.js'] = ['text/javascript', outputFiles[0]?.text ?? ''];
    browser = await launchChromium();
    opened.unshift(browser);
  });
  afterAll(async () => {
    for (const each of opened) await each.close();
    provider?.kill();
  });

  const shown = (tab: Page, id: string) => tab.waitForSelector(`#${id}`, { state: 'visible' });
  const press = (tab: Page, id: string) => tab.click(`#${id} button`);
  const message = (tab: Page) => tab.textContent('#message');

  /** Opens the page in a browser without cookies or storage. */
  async function openPage(): Promise<Page> {
    const tab = await (await browser.newContext()).newPage();
    await tab.goto(url);
    await shown(tab, 'login');
    return tab;
  }

  /** Logs in at the provider, which asks for a name, and then for consent. */
  async function nameAtProvider(tab: Page, email: string): Promise<void> {
    await press(tab, 'office');
    await tab.fill('[name=login]', email);
    await tab.fill('[name=password]', 'any');
    await tab.click('[type=submit]');
    await tab.click('[type=submit]:text("Continue")');
  }

  const account = (email: string) => fixture.api.collections.users.findOne({ email });

  test('a person logs in on the page of the README by password, and reads why a wrong one is refused', async () => {
    const { email, client } = await fixture.signedIn({ stream: false });
    await client.logOut();
    const tab = await openPage();
    await tab.fill('#login [name=email]', email);
    await tab.fill('#login [name=password]', 'wrong');
    await press(tab, 'login');
    await tab.waitForSelector('#message:not(:empty)');
    expect(await message(tab)).toBe('The e-mail address or the password is not right.');
    await tab.fill('#login [name=password]', password);
    await press(tab, 'login');
    await shown(tab, 'leave');
    await tab.reload();
    await shown(tab, 'leave');
    await press(tab, 'leave');
    await shown(tab, 'login');
  });

  test('a person registers on the page of the README by a provider, and comes again, over two redirects', async () => {
    const tab = await openPage();
    const email = newEmail();
    await nameAtProvider(tab, email);
    await shown(tab, 'join');
    await press(tab, 'join');
    await shown(tab, 'leave');
    expect(await account(email)).toMatchObject({ identities: [{ provider: 'office', email }] });
    await press(tab, 'leave');
    await shown(tab, 'login');
    // The provider knows the person now, and asks nothing.
    await press(tab, 'office');
    await shown(tab, 'leave');
    expect(tab.url()).toBe(url);
    await tab.reload();
    await shown(tab, 'leave');
  });

  test('a person whose address has an account links it on the page of the README by the password', async () => {
    const { email } = await fixture.signedIn({ stream: false });
    const tab = await openPage();
    await nameAtProvider(tab, email);
    await shown(tab, 'link');
    await tab.fill('#link [name=password]', password);
    await press(tab, 'link');
    await shown(tab, 'leave');
    expect(await account(email)).toMatchObject({ identities: [{ provider: 'office' }] });
  });

  test('a person who gives up at the provider is back on the page of the README, and reads so', async () => {
    const tab = await openPage();
    await press(tab, 'office');
    await tab.click('a[href$="/abort"]');
    await tab.waitForSelector('#message:not(:empty)');
    await shown(tab, 'login');
    expect(await message(tab)).toMatch(/again/);
  });
});
