import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isRunning, type ProcessRecord, waitUntil } from '@auth-account/local-stack';
import { assertAccessTokenKeys, generateSigningKey, loadKeyFile, writeKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { closingAll } from '../../support/closing.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { upEnvironment } from '../../support/processes/up-environment.ts';
import { type Program, runProgram } from './run-program.ts';

interface RunFile {
  readonly children: readonly ProcessRecord[];
}

/** A separate directory and ports, and the programs that are started with them. */
interface Fixture {
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  up(args?: readonly string[], extra?: NodeJS.ProcessEnv): Program;
  readChildren(): Promise<readonly ProcessRecord[]>;
  withDatabase<T>(work: (client: MongoClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

async function openFixture(): Promise<Fixture> {
  const folder = await openGuardedFolder('up');
  const started: Program[] = [];
  const env = await upEnvironment(join(folder.dir, 'data'));
  return {
    dir: folder.dir,
    env,
    up(args = [], extra = {}) {
      const program = runProgram('fixtures/up.ts', { ...env, ...extra }, args);
      if (program.child.pid !== undefined) folder.watch(program.child.pid);
      started.push(program);
      return program;
    },
    async readChildren() {
      const { children }: RunFile = JSON.parse(await readFile(join(folder.dir, 'data', 'up.json'), 'utf8'));
      for (const child of children) folder.watch(child.pid);
      return children;
    },
    async withDatabase(work) {
      const client = new MongoClient(`mongodb://127.0.0.1:${env.LOCAL_MONGO_PORT}/?replicaSet=rs0`);
      try {
        return await work(client);
      } finally {
        await client.close();
      }
    },
    async close() {
      for (const program of started) {
        if (program.child.exitCode === null) program.child.kill('SIGTERM');
        await program.ended;
      }
      await folder.close();
    },
  };
}

async function findRunning(children: readonly ProcessRecord[]): Promise<ProcessRecord[]> {
  const running = await Promise.all(children.map(isRunning));
  return children.filter((_, index) => running[index]);
}

async function end(program: Program): Promise<void> {
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
}

/** Asserts that the api has this key file, and the gateway the public halves of its keys. */
async function expectHalves(program: Program, keyFile: string): Promise<void> {
  const [ofApi = '', ofGateway = ''] = ['api', 'gateway'].map(
    (name) => new RegExp(`${name} has the keys (.*)\\.$`, 'm').exec(program.output())?.[1],
  );
  const [signing, verifying] = [await loadKeyFile(ofApi), await loadKeyFile(ofGateway)];
  assertAccessTokenKeys(verifying, 'verify');
  expect(verifying.keys.map(({ kid }) => kid)).toEqual(signing.keys.map(({ kid }) => kid));
  expect(ofApi).toBe(keyFile);
}

const count = (client: MongoClient) => client.db('test').collection('kept').countDocuments();

describe('npm run up', () => {
  test.concurrent(
    'SIGTERM, also if another signal follows, ends everything in order and leaves no process',
    closingAll(async (closing) => {
      const { dir, up, readChildren } = closing(await openFixture());
      const program = up();
      await program.waitFor('Ready after');
      const children = await readChildren();
      program.child.kill('SIGTERM');
      program.child.kill('SIGINT');
      expect(await program.ended).toBe(0);
      const output = program.output();
      const order = ['api ends', 'worker ends', 'Stopping Redis', 'Stopping MongoDB'].map((text) =>
        output.indexOf(text),
      );
      expect(order).not.toContain(-1);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      expect(children.length).toBeGreaterThanOrEqual(6);
      expect(await findRunning(children)).toEqual([]);
      await expect(stat(join(dir, 'data', 'up.json'))).rejects.toThrow('ENOENT');
    }),
  );

  test.concurrent(
    'data and keys, made for the algorithm that is set, are kept by the next start',
    closingAll(async (closing) => {
      const { dir, up, withDatabase } = closing(await openFixture());
      const keyFile = join(dir, 'data', 'keys', 'access-token-keys.json');
      const first = up([], { ACCESS_TOKEN_ALGORITHM: 'EdDSA' });
      await first.waitFor('Ready after');
      await withDatabase((client) => client.db('test').collection('kept').insertOne({}));
      const key = await readFile(keyFile, 'utf8');
      expect(JSON.parse(key).keys[0].alg).toBe('EdDSA');
      // The next test has keys of the user's instead.
      await expectHalves(first, keyFile);
      await end(first);

      const second = up();
      await second.waitFor('Ready after');
      expect(await withDatabase(count)).toBe(1);
      expect(await readFile(keyFile, 'utf8')).toBe(key);
      await end(second);
    }),
  );

  test.concurrent(
    'the push gateway gets the public halves of the keys, also if these are the user’s',
    closingAll(async (closing) => {
      const { dir, up } = closing(await openFixture());
      const own = join(dir, 'own.json');
      await writeKeyFile(own, { keys: [await generateSigningKey('ES256')] }, { replace: false });
      const program = up([], { ACCESS_TOKEN_KEYS_FILE: own });
      await program.waitFor('Ready after');
      await expectHalves(program, own);
      await end(program);
    }),
  );

  test.concurrent(
    'ports that are taken are named with their variables, all at once, and nothing is started',
    closingAll(async (closing) => {
      const { env, up } = closing(await openFixture());
      const servers = ['API_PORT', 'LOCAL_REDIS_PORT'].map((name) =>
        createServer().listen(Number(env[name]), '127.0.0.1'),
      );
      for (const server of servers) closing({ close: async () => void server.close() });
      const program = up();
      expect(await program.ended).toBe(1);
      expect(program.output()).toContain(`Port ${env.API_PORT} (the API) is taken; choose another one: API_PORT=…`);
      expect(program.output()).toMatch(new RegExp(`Port ${env.LOCAL_REDIS_PORT} .* LOCAL_REDIS_PORT=…`));
      expect(program.output()).not.toContain('MongoDB:');
    }),
  );

  test.concurrent(
    'an algorithm of keys that does not exist is named, and no keys are made',
    closingAll(async (closing) => {
      const { dir, up } = closing(await openFixture());
      const program = up([], { ACCESS_TOKEN_ALGORITHM: 'RS256' });
      expect(await program.ended).toBe(1);
      expect(program.output()).toContain('ACCESS_TOKEN_ALGORITHM=RS256 is none of ES256, EdDSA');
      await expect(stat(join(dir, 'data', 'keys'))).rejects.toThrow('ENOENT');
    }),
  );

  test.concurrent(
    'npm run up ends what a killed one left running, and forgets data and keys with --fresh',
    closingAll(async (closing) => {
      const { dir, up, readChildren, withDatabase } = closing(await openFixture());
      const keyFile = join(dir, 'data', 'keys', 'access-token-keys.json');
      const first = up();
      await first.waitFor('Ready after');
      await withDatabase((client) => client.db('test').collection('kept').insertOne({}));
      const key = await readFile(keyFile, 'utf8');
      const orphans = await findRunning(await readChildren());
      first.child.kill('SIGKILL');
      await first.ended;
      expect(await findRunning(orphans)).toEqual(orphans);

      const second = up(['--fresh']);
      await second.waitFor('Ready after');
      expect(await findRunning(orphans)).toEqual([]);
      expect(await withDatabase(count)).toBe(0);
      expect(await readFile(keyFile, 'utf8')).not.toBe(key);
      await end(second);
    }),
  );

  test.concurrent(
    'a service that refuses its configuration ends everything with 78',
    closingAll(async (closing) => {
      const { up } = closing(await openFixture());
      const program = up([], { FIXTURE_EXIT_CODE: '78' });
      expect(await program.ended).toBe(78);
      expect(program.output()).toMatch(/(api|gateway|worker) does not start with this configuration/);
      expect(program.output()).toContain('Stopping MongoDB');
    }),
  );
});

describe('a running stack', () => {
  let fixture: Fixture;
  let program: Program;
  beforeAll(async () => {
    fixture = await openFixture();
    program = fixture.up();
    await program.waitFor('Ready after');
  });
  afterAll(() => fixture.close());

  test('a second npm run up says that the first runs, and leaves it alone', async () => {
    const second = fixture.up();
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`It runs already, as process ${program.child.pid}`);
    expect(await findRunning(await fixture.readChildren())).toHaveLength(5);
  });

  test('a service, Redis and MongoDB that die are started again, and a line says so', async () => {
    const children = await fixture.readChildren();
    for (const marker of ['api.ts', 'redis', 'mongo']) {
      const child = children.find((candidate) => candidate.marker.endsWith(marker));
      if (child !== undefined) process.kill(child.pid, 'SIGKILL');
    }
    await program.waitFor('api: ended with SIGKILL, is started again in 0.2 s');
    await program.waitFor('Redis: ended by itself, is started again');
    await program.waitFor('MongoDB: ended by itself, is started again');
    await waitUntil(async () => program.output().split('api listens').length === 3, {
      what: 'the second start of the api',
      timeoutMs: 60_000,
    });
    expect(await fixture.withDatabase(count)).toBe(0);
    await end(program);
  });
});
