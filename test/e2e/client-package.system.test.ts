import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import type * as Client from '@auth-account/client';
import type * as AccountGroup from '@auth-account/client/account';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail, password } from '../support/api/accounts.ts';
import {
  bundleClient,
  type ClientSizes,
  clientBudget,
  clientGroups,
  measureClient,
  overweight,
} from '../support/client/client-bundle.ts';
import { openClientFixture } from '../support/client/client-fixture.ts';
import { createMemoryStorage } from '../support/client/memory-storage.ts';
import { openPackages, type Packages, root, run } from './packages.ts';

const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

const onNode = `
import { AuthError, createAuthClient } from '@auth-account/client';
import { nodePlatform } from '@auth-account/client/node';
import '@auth-account/client/account';
import '@auth-account/client/axios';
import '@auth-account/client/bound-key';
import '@auth-account/client/browser';
import '@auth-account/client/browser-passkeys';
import '@auth-account/client/debug';
import '@auth-account/client/federated';
import '@auth-account/client/household';
import '@auth-account/client/login-code';
import '@auth-account/client/passkeys';
import '@auth-account/client/react';
import '@auth-account/client/react-native';
import '@auth-account/client/reactions';
import '@auth-account/client/second-factor';
import '@auth-account/client/sessions';
import '@auth-account/client/internal-service-reactions';
import '@auth-account/client/step-up';
const auth = createAuthClient({ baseUrl: 'http://127.0.0.1:1', ...nodePlatform('store') });
const { status, reason } = await auth.ready();
const { code } = await auth.logIn({ email: 'a@example.com', password: 'b' }).catch((error) => error);
console.log(status, reason, code, new AuthError('ERR-OVERLOADED').reaction.type);
auth.close();
`;

describe('the client, installed alone in an empty project', () => {
  let packages: Packages;
  let project: string;

  beforeAll(async () => {
    packages = await openPackages();
    project = await packages.install(['client']);
  });
  afterAll(() => packages.close());

  test('the installed client brings nothing else, and no side effects', async () => {
    const modules = join(project, 'node_modules');
    expect((await readdir(modules)).filter((name) => !name.startsWith('.'))).toEqual(['@auth-account']);
    const manifest = JSON.parse(await readFile(join(modules, '@auth-account/client/package.json'), 'utf8'));
    expect(manifest).toMatchObject({ sideEffects: false, type: 'module' });
    expect(manifest.dependencies).toBeUndefined();
  });

  test('the installed client runs on plain Node', async () => {
    await writeFile(join(project, 'app.js'), onNode);
    const { stdout } = await run(process.execPath, ['app.js'], { cwd: project });
    expect(stdout.trim()).toBe('signed_out no_session CLIENT_NETWORK RETRY_WITH_BACKOFF');
  });
});

describe('the bundle', () => {
  const recorded: ClientSizes & { readonly version: string } = readJson('libs/client/sizes.json');

  test('the bundle has 14 KiB at most with an adapter, and 2 KiB more at most for each group', async () => {
    expect(overweight(await measureClient(), recorded)).toEqual([]);
  });

  test('the measure of the bundle names the module that has made it too large', () => {
    const larger = { ...recorded, core: 14_337, modules: { ...recorded.modules, 'events.ts': 1_000, 'new.ts': 90 } };
    const more = 1_000 - (recorded.modules['events.ts'] ?? 0);
    expect(overweight(larger, recorded)).toEqual([
      'core has 14337 of 14336 bytes',
      `events.ts has grown by ${more} to 1000`,
      'new.ts has grown by 90 to 90',
    ]);
  });

  test('the bundle had a tenth of its core free at this version (`npm run sizes -w libs/client`)', () => {
    const { version } = readJson('libs/client/package.json');
    const most = clientBudget.core - clientBudget.freeAtRelease;
    expect(recorded).toMatchObject({ version, core: expect.any(Number) });
    expect(recorded.core).toBeLessThanOrEqual(most);
  });

  test('the bundle compiles with Hermes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'client-hermes-'));
    try {
      const file = join(directory, 'client.js');
      await writeFile(
        file,
        await bundleClient(['adapters/react-native', ...clientGroups().map((name) => `groups/${name}`)], 'iife'),
      );
      const packed = dirname(createRequire(import.meta.url).resolve('hermes-compiler/package.json'));
      const folder = { darwin: 'osx-bin', win32: 'win64-bin' }[process.platform as string] ?? 'linux64-bin';
      const bytecode = join(directory, 'client.hbc');
      await run(join(packed, 'hermesc', folder, 'hermesc'), ['-w', '-O', '-emit-binary', '-out', bytecode, file]);
      expect((await readFile(bytecode)).length).toBeGreaterThan(10_000);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('the bundle lives a session where there is nothing of Node and no DOM', async () => {
    const fixture = await openClientFixture();
    const { fetch, WebSocket, AbortController, Headers, crypto, setTimeout, clearTimeout } = globalThis;
    const sandbox = { fetch, WebSocket, AbortController, Headers, crypto, setTimeout, clearTimeout };
    try {
      const client = runInContext(
        `${await bundleClient(['groups/account'], 'iife')}; authClient`,
        createContext(sandbox),
      );
      const { createAuthClient, account } = client as typeof Client & typeof AccountGroup;
      const auth = createAuthClient({ baseUrl: fixture.api.base, storage: createMemoryStorage(), groups: [account] });
      const email = newEmail();
      await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
      await auth.logIn({ email, password });
      expect((await auth.account.find()).email).toBe(email);
      expect((await auth.fetch('/api/v1/account')).status).toBe(200);
      await auth.logOut();
      expect(auth.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
      auth.close();
    } finally {
      await fixture.close();
    }
  });
});
