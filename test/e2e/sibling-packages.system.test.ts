import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const libraries = ['contracts', 'errors', 'messaging', 'redis'];

const consumer = `
import { RegisteredEvent } from '@auth-account/contracts';
import { registeredChannel } from '@auth-account/contracts/events';
import { AppError } from '@auth-account/errors';
import { createEventConsumer } from '@auth-account/messaging';
import { redisKeys, workerOptions } from '@auth-account/redis';
import { type InboxDocument, openMongoInbox } from '@auth-account/messaging/mongo-inbox';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';

const mongo = new MongoClient('mongodb://127.0.0.1:1');
const db = mongo.db('kitchen');
export async function start() {
  return createEventConsumer({
    connection: new Redis('redis://127.0.0.1:1', workerOptions()),
    keys: redisKeys('auth'),
    channel: registeredChannel,
    schema: RegisteredEvent,
    subscriber: 'kitchen',
    inbox: await openMongoInbox({ client: mongo, collection: db.collection<InboxDocument>('inbox') }),
    async handle(event, { session, requestId }) {
      if (requestId === '') throw new AppError('ERR-INTERNAL');
      await db.collection('configurations').insertOne({ group: event.data.home_group_id }, { session });
      // @ts-expect-error the event holds no e-mail address
      event.data.email;
    },
    onReport: ({ outcome }) => console.log(outcome),
    onError: (error) => console.error(error.message),
  });
}
`;

const imports = `
import { registeredChannel } from '@auth-account/contracts/events';
import { AppError } from '@auth-account/errors';
import { createEventConsumer, subscriberQueueName } from '@auth-account/messaging';
import { openMongoInbox } from '@auth-account/messaging/mongo-inbox';
console.log(subscriberQueueName(registeredChannel, 'kitchen'), typeof createEventConsumer, typeof openMongoInbox);
console.log(new AppError('ERR-INTERNAL').status);
`;

describe('the packages for siblings, installed together in an empty project', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'sibling-install-'));
    const tarballs = await Promise.all(libraries.map(pack));
    await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
    const mongodb = JSON.parse(await readFile(join(root, 'libs/stores/package.json'), 'utf8')).dependencies.mongodb;
    const options = ['--silent', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, ...tarballs, `mongodb@${mongodb}`], { cwd: project });
  });

  afterAll(() => rm(project, { recursive: true }));

  async function pack(library: string): Promise<string> {
    const cwd = join(root, 'libs', library);
    return (await run('npm', ['run', '--silent', 'pack', '--', project], { cwd })).stdout.trim();
  }

  test('type-check a consumer', async () => {
    await writeFile(join(project, 'consumer.ts'), consumer);
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    const tsc = join(root, 'node_modules/.bin/tsc');
    const checked = await run(tsc, [...options, ...types, 'consumer.ts'], { cwd: project }).catch((error) => error);
    expect(checked.stdout).toBe('');
  });

  test('run on plain Node', async () => {
    await writeFile(join(project, 'imports.js'), imports);
    const { stdout } = await run(process.execPath, ['imports.js'], { cwd: project });
    expect(stdout).toBe('service.auth.events.registered.kitchen function function\n500\n');
  });

  test('hold no test, no TypeScript source, and need no package of this project that is not among them', async () => {
    const home = join(project, 'node_modules/@auth-account');
    const files = await readdir(home, { recursive: true });
    expect(files.filter((file) => /\.(test|fixture)\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    expect((await readdir(home)).sort()).toEqual(libraries);
  });
});
