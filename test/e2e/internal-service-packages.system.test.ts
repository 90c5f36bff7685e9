import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logOut, newSession } from '../support/api/accounts.ts';
import { audience, issuer, keyPrefix, openVerifierFixture } from '../support/verifier/verifier-fixture.ts';
import { internalServiceFile, openPackages, type Packages, root, run, typeCheck } from './packages.ts';

let packages: Packages;
beforeAll(async () => {
  packages = await openPackages();
});
afterAll(() => packages.close());

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

/** Declarations for the names that the README's first block expects of the internal service. */
const internalServicesOwn = `
declare const REDIS_URL: string;
declare const logger: { warn(facts: object, message: string): void };
`;

/** An internal service that verifies TOKEN, and after a line on stdin verifies it again until it is refused. */
const internalService = `
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

describe('the packages for internal services, installed together in an empty project', () => {
  const libraries = ['contracts', 'errors', 'messaging', 'redis'];
  let project: string;

  beforeAll(async () => {
    const manifest = JSON.parse(await readFile(join(root, 'libs/stores/package.json'), 'utf8'));
    project = await packages.install(libraries, [`mongodb@${manifest.dependencies.mongodb}`]);
  });

  test('the packages for internal services type-check a consumer', async () => {
    await writeFile(join(project, 'consumer.ts'), consumer);
    expect(await typeCheck(project, internalServiceFile('consumer.ts'))).toBe('');
  });

  test('the packages for internal services run on plain Node', async () => {
    await writeFile(join(project, 'imports.js'), imports);
    const { stdout } = await run(process.execPath, ['imports.js'], { cwd: project });
    expect(stdout).toBe('service.auth.events.registered.kitchen function function\n500\n');
  });

  test('the packages for internal services hold no test and no TypeScript source, and need no other package of this project', async () => {
    const home = join(project, 'node_modules/@auth-account');
    const files = await readdir(home, { recursive: true });
    expect(files.filter((file) => /\.(test|fixture)\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    expect((await readdir(home)).sort()).toEqual(libraries);
  });
});

describe('the verifier, installed in an empty project', () => {
  const libraries = ['errors', 'redis', 'verifier'];
  let project: string;

  beforeAll(async () => {
    project = await packages.install(libraries);
  });

  test('the installed verifier type-checks the first block of its README, with the real Express', async () => {
    const readme = await readFile(join(root, 'libs/verifier/README.md'), 'utf8');
    const [, block = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    expect(block).toContain('createVerifier');
    await writeFile(join(project, 'app.ts'), block + internalServicesOwn);
    // The verifier does not bring the types of Express.
    await mkdir(join(project, 'node_modules/@types'), { recursive: true });
    await symlink(join(root, 'node_modules/@types/express'), join(project, 'node_modules/@types/express'));
    expect(await typeCheck(project, internalServiceFile('app.ts'))).toBe('');
  });

  test('the installed verifier refuses on plain Node a token after its logout', async () => {
    const fixture = await openVerifierFixture();
    try {
      const session = await newSession(fixture.api);
      await writeFile(join(project, 'service.js'), internalService);
      const env = {
        ...{
          PATH: process.env.PATH,
          REDIS_URL: fixture.internalServiceUrl,
          KEY_PREFIX: keyPrefix,
          REACHED_AT: fixture.api.base,
        },
        ...{ ISSUER: issuer, AUDIENCE: audience, TOKEN: session.access_token },
      };
      const running = run(process.execPath, ['service.js'], { cwd: project, env, timeout: 100_000 });
      // If it ends before it has accepted the token, this throws.
      await Promise.race([once(running.child.stdout as Readable, 'data'), running]);
      await logOut(fixture.api, session);
      running.child.stdin?.write('go\n');
      expect((await running).stdout).toBe(`${session.user_id}\nIAD_JWT_ACCESS_INVALID\n`);
    } finally {
      await fixture.close();
    }
  });

  test('the installed verifier holds no test and no TypeScript source, and needs no framework', async () => {
    const home = join(project, 'node_modules/@auth-account');
    expect((await readdir(home)).sort()).toEqual(libraries);
    const files = await readdir(join(home, 'verifier'), { recursive: true });
    expect(files).toContain('README.md');
    expect(files.filter((file) => /\.(test|fixture)\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    const installed = await readdir(join(project, 'node_modules'));
    expect(installed.filter((name) => ['express', 'fastify', '@grpc', 'jose', 'bullmq'].includes(name))).toEqual([]);
  });
});
