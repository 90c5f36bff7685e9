import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import type * as Client from '@auth-account/client';
import type * as AccountGroup from '@auth-account/client/account';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail, password } from '../support/accounts.ts';
import { bundleClient } from '../support/client-bundle.ts';
import { openClientScene } from '../support/client-scene.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** Names that the README's first block leaves to the app. */
const appsOwn = `
declare function render(state: unknown): void;
declare function show(message: string, reaction: unknown): void;
declare const email: string, password: string;
`;

const onNode = `
import { AuthError, createAuthClient } from '@auth-account/client';
import { nodePlatform } from '@auth-account/client/node';
import '@auth-account/client/account';
import '@auth-account/client/browser';
import '@auth-account/client/household';
import '@auth-account/client/react';
import '@auth-account/client/react-native';
const auth = createAuthClient({ baseUrl: 'http://127.0.0.1:1', ...nodePlatform('store') });
const { status, reason } = await auth.ready();
const { code } = await auth.logIn({ email: 'a@example.com', password: 'b' }).catch((error) => error);
console.log(status, reason, code, new AuthError('ERR-OVERLOADED').reaction.type);
auth.close();
`;

describe('the client, installed alone in an empty project', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'client-install-'));
    const cwd = join(root, 'libs/client');
    const tarball = (await run('npm', ['run', '--silent', 'pack', '--', project], { cwd })).stdout.trim();
    await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
    const options = ['--silent', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, tarball], { cwd: project });
  });

  afterAll(() => rm(project, { recursive: true }));

  test('brings nothing else, and no side effects', async () => {
    const modules = join(project, 'node_modules');
    expect((await readdir(modules)).filter((name) => !name.startsWith('.'))).toEqual(['@auth-account']);
    const manifest = JSON.parse(await readFile(join(modules, '@auth-account/client/package.json'), 'utf8'));
    expect(manifest).toMatchObject({ sideEffects: false, type: 'module' });
    expect(manifest.dependencies).toBeUndefined();
  });

  test('type-checks the first block of its README', async () => {
    const readme = await readFile(join(root, 'libs/client/README.md'), 'utf8');
    const [, block = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    expect(block).toContain('logIn');
    await writeFile(join(project, 'app.ts'), appsOwn + block);
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    const tsc = join(root, 'node_modules/.bin/tsc');
    const checked = await run(tsc, [...options, 'app.ts'], { cwd: project }).catch((error) => error);
    expect(checked.stdout).toBe('');
  });

  test('runs on plain Node', async () => {
    await writeFile(join(project, 'app.js'), onNode);
    const { stdout } = await run(process.execPath, ['app.js'], { cwd: project });
    expect(stdout.trim()).toBe('signed_out no_session CLIENT_NETWORK RETRY_WITH_BACKOFF');
  });
});

describe('the bundle', () => {
  const sizeWith = async (module: string) => gzipSync(await bundleClient([module], 'esm'), { level: 9 }).length;

  test.each(['browser', 'react-native'])('with the adapter for %s has 12 KiB at most', async (adapter) => {
    expect(await sizeWith(`adapters/${adapter}`)).toBeLessThanOrEqual(12 * 1_024);
  });

  test.each(['account', 'household'])('with the group %s has 2 KiB more at most', async (group) => {
    const bare = gzipSync(await bundleClient([], 'esm'), { level: 9 }).length;
    expect((await sizeWith(`groups/${group}`)) - bare).toBeLessThanOrEqual(2 * 1_024);
  });

  test('compiles with Hermes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'client-hermes-'));
    try {
      const file = join(directory, 'client.js');
      await writeFile(
        file,
        await bundleClient(['adapters/react-native', 'groups/account', 'groups/household'], 'iife'),
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

  test('lives a session where there is nothing of Node and no DOM', async () => {
    const scene = await openClientScene();
    const { fetch, WebSocket, AbortController, Headers, crypto, setTimeout, clearTimeout } = globalThis;
    const sandbox = { fetch, WebSocket, AbortController, Headers, crypto, setTimeout, clearTimeout };
    try {
      const client = runInContext(
        `${await bundleClient(['groups/account'], 'iife')}; authClient`,
        createContext(sandbox),
      );
      const { createAuthClient, account } = client as typeof Client & typeof AccountGroup;
      const auth = createAuthClient({ baseUrl: scene.api.base, storage: createMemoryStorage(), groups: [account] });
      const email = newEmail();
      await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
      await auth.logIn({ email, password });
      expect((await auth.account.find()).email).toBe(email);
      expect((await auth.fetch('/api/v1/account')).status).toBe(200);
      await auth.logOut();
      expect(auth.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
      auth.close();
    } finally {
      await scene.close();
    }
  });
});
