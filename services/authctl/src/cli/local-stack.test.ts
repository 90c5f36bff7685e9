import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findLocalStack } from './local-stack.ts';

const environment = { MONGODB_URI: 'mongodb://127.0.0.1:27117/', REDIS_URL: 'redis://127.0.0.1:6479' };

let file: string;
beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'auth-account-local-')), 'up.json');
});
afterEach(() => rm(join(file, '..'), { recursive: true }));

/** Returns the stack that is found with these variables, and the message about it. */
async function find(env: Readonly<Record<string, string>>, content: object, mode = 0o600) {
  await writeFile(file, JSON.stringify(content));
  await chmod(file, mode);
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const terminal = { stdin, stdout, stderr, isInteractive: false, hasProgress: false, now: () => new Date() };
  const found = findLocalStack({ ...terminal, env, localStack: pathToFileURL(file) });
  return { found, said: String(stderr.read() ?? '') };
}

const running = { owner: { pid: process.pid, marker: 'node' }, environment };

test('a running stack is used, and named in one line', async () => {
  const { found, said } = await find({}, running);
  expect(found).toEqual(environment);
  expect(said).toMatch(/^authctl: uses the local stack that .*up\.json names.*\n$/);
});

test.each(['MONGODB_URI', 'MONGODB_URI_FILE', 'REDIS_URL', 'REDIS_URL_FILE', 'PROBE_API_URL', 'SERVER_KEYS_FILE'])(
  'an environment that has %s is left alone',
  async (name) => {
    expect(await find({ [name]: 'something' }, running)).toEqual({ found: undefined, said: '' });
    expect(await find({ [name]: '' }, running)).toEqual({ found: undefined, said: '' });
  },
);

test('a stack is not looked for in production', async () => {
  expect(await find({ NODE_ENV: 'production' }, running)).toEqual({ found: undefined, said: '' });
});

test('a stack that has ended, or is not ready yet, is ignored', async () => {
  expect((await find({}, { ...running, owner: { ...running.owner, pid: 2 ** 22 + 1 } })).found).toBeUndefined();
  expect((await find({}, { owner: running.owner })).found).toBeUndefined();
});

test('a file whose process number belongs to another program is ignored', async () => {
  const { found } = await find({}, { ...running, owner: { pid: process.pid, marker: 'another-program.ts' } });
  expect(found).toBeUndefined();
});

test('a file that others can write to is ignored', async () => {
  expect((await find({}, running, 0o622)).found).toBeUndefined();
});
