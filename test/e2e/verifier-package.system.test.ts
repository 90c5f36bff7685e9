import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logOut, newSession } from '../support/accounts.ts';
import { audience, issuer, keyPrefix, openVerifierScene } from '../support/verifier-scene.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const libraries = ['errors', 'redis', 'verifier'];

/** Declarations for the names that the README's first block expects of the sibling. */
const siblingsOwn = `
declare const REDIS_URL: string;
declare const logger: { warn(facts: object, message: string): void };
`;

/** A sibling service that verifies TOKEN, and after a line on stdin verifies it again until it is refused. */
const sibling = `
import { createInterface } from 'node:readline';
import { createVerifier } from '@auth-account/verifier';
import { redisRevocations } from '@auth-account/verifier/redis';
import '@auth-account/verifier/express';
import '@auth-account/verifier/fastify';
import '@auth-account/verifier/grpc';
const { REDIS_URL, KEY_PREFIX, REACHED_AT: reachedAt, ISSUER: issuer, AUDIENCE: audience, TOKEN } = process.env;
const revocations = redisRevocations({ REDIS_URL, KEY_PREFIX });
const verifier = createVerifier({ issuer, audience, reachedAt, revocations });
const { user_id } = await verifier.verify(TOKEN);
console.log(user_id);
await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
for (;;) {
  const code = await verifier.verify(TOKEN).then(() => undefined, (error) => error.code);
  if (code !== undefined) {
    console.log(code);
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
}
verifier.close();
process.stdin.destroy();
`;

describe('the verifier, installed in an empty project', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'verifier-install-'));
    const tarballs = await Promise.all(libraries.map(pack));
    await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
    const options = ['--silent', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, ...tarballs], { cwd: project });
  });
  afterAll(() => rm(project, { recursive: true }));

  async function pack(library: string): Promise<string> {
    const cwd = join(root, 'libs', library);
    return (await run('npm', ['run', '--silent', 'pack', '--', project], { cwd })).stdout.trim();
  }

  test('type-checks the first block of its README, with the real Express', async () => {
    const readme = await readFile(join(root, 'libs/verifier/README.md'), 'utf8');
    const [, block = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    expect(block).toContain('createVerifier');
    await writeFile(join(project, 'app.ts'), block + siblingsOwn);
    // The verifier does not bring the types of Express.
    await mkdir(join(project, 'node_modules/@types'), { recursive: true });
    await symlink(join(root, 'node_modules/@types/express'), join(project, 'node_modules/@types/express'));
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    const tsc = join(root, 'node_modules/.bin/tsc');
    const checked = await run(tsc, [...options, ...types, 'app.ts'], { cwd: project }).catch((error) => error);
    expect(checked.stdout).toBe('');
  });

  test('refuses on plain Node a token after its logout', async () => {
    const scene = await openVerifierScene();
    try {
      const session = await newSession(scene.api);
      await writeFile(join(project, 'sibling.js'), sibling);
      const env = {
        ...{ PATH: process.env.PATH, REDIS_URL: scene.siblingUrl, KEY_PREFIX: keyPrefix, REACHED_AT: scene.api.base },
        ...{ ISSUER: issuer, AUDIENCE: audience, TOKEN: session.access_token },
      };
      const running = run(process.execPath, ['sibling.js'], { cwd: project, env, timeout: 100_000 });
      await new Promise((resolve) => running.child.stdout?.once('data', resolve));
      await logOut(scene.api, session);
      running.child.stdin?.write('go\n');
      expect((await running).stdout).toBe(`${session.user_id}\nIAD_JWT_ACCESS_INVALID\n`);
    } finally {
      await scene.close();
    }
  });

  test('holds no test and no TypeScript source, and needs no framework', async () => {
    const home = join(project, 'node_modules/@auth-account');
    expect((await readdir(home)).sort()).toEqual(libraries);
    const files = await readdir(join(home, 'verifier'), { recursive: true });
    expect(files).toContain('README.md');
    expect(files.filter((file) => /\.(test|fixture)\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    const installed = await readdir(join(project, 'node_modules'));
    expect(installed.filter((name) => ['express', 'fastify', '@grpc', 'jose', 'bullmq'].includes(name))).toEqual([]);
  });
});
