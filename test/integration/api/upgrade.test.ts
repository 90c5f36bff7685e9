import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { thisBuild } from '@auth-account/lifecycle/this-build';
import { createAdmission } from '@auth-account/lifecycle/upgrade';
import { waitUntil } from '@auth-account/local-stack';
import {
  createProcessReporter,
  type ProcessReporter,
  readProcessReports,
} from '@auth-account/messaging/process-reports';
import { redisKeys } from '@auth-account/redis';
import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { startApi } from '../../support/api/test-api.ts';
import { type RecordedLog, recordLog } from '../../support/recorded-log.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { cheapHashes, testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const mongo = new MongoClient(testEnvironment().mongodbUri);
const redis = new Redis(testEnvironment().redisUrl);
const former = { version: '0.0.9', generation: thisBuild.generation - 1 };
const tooOld = { version: '0.0.1', generation: thisBuild.beside - 1 };
/** A later build, on whose data this one must not run. */
const later = { version: '9.0.0', generation: thisBuild.generation + 1, beside: 0, needs: thisBuild.generation + 1 };

let name: string;
let env: Record<string, string>;
let log: RecordedLog;
let stopping: AbortController;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  name = uniqueName();
  env = { ...serviceEnvironment(name), ...cheapHashes };
  log = recordLog('api', 'debug');
  stopping = new AbortController();
  await ensureIndexes(mongo.db(name));
});
afterEach(async () => {
  stopping.abort();
  for (const end of ends.splice(0)) await end();
  await mongo.db(name).dropDatabase();
});
afterAll(async () => {
  redis.disconnect();
  await mongo.close();
});

const stores = () => storesOf(collectionsOf(mongo.db(name)));
const record = (generation: number) => collectionsOf(mongo.db(name)).upgrades.findOne({ _id: generation });
const messages = () => log.lines.map(({ msg }) => String(msg));
const logged = (what: RegExp) =>
  waitUntil(async () => messages().some((line) => what.test(line)), { what: `${what}`, timeoutMs: 60_000 });

/** Reports a process as one of that build does. */
async function report(service: string, build: { version: string; generation: number }): Promise<ProcessReporter> {
  const clocks = { now: Date.now, hostNow: Date.now, onMeasured: () => undefined };
  const keys = redisKeys(name);
  const reporter = createProcessReporter({ redis, keys, service, build, settings: () => ({ keys: {} }), ...clocks });
  await reporter.write();
  return reporter;
}

/** Starts a service, and says whether it has started. */
function watch<T extends { close(): Promise<unknown> }>(starting: Promise<T>) {
  const state = { hasStarted: false, started: starting };
  const end = (service: T) => () => service.close();
  state.started = starting.then((service) => {
    state.hasStarted = true;
    ends.push(end(service));
    return service;
  });
  return state;
}

function watchApi(settings: Record<string, string> = {}, overrides: Parameters<typeof startApi>[1] = {}) {
  return watch(startApi({ ...env, ...settings }, overrides, log.logger));
}
const startWorker = (settings: Record<string, string> = {}) =>
  watch(startTestWorker({ ...env, ...settings }, log.logger));

test('an api of a new generation starts when older gateways and workers have gone; its restart waits for none', async () => {
  const gateway = await report('push-gateway', former);
  const worker = await report('worker', former);
  await report('api', former);
  const first = watchApi();
  await logged(/ of api waits until these have gone: push-gateway \S+ \(version 0\.0\.9, generation 0\), worker /);
  await gateway.remove();
  await logged(/waits until these have gone: worker \S+ \(version 0\.0\.9, generation 0\)$/);
  expect(first.hasStarted).toBe(false);
  await worker.remove();
  await first.started;
  expect(await record(thisBuild.generation)).toMatchObject({ version: thisBuild.version, opened_at: expect.any(Date) });

  await report('worker', former);
  log.lines.length = 0;
  await watchApi().started;
  expect(messages().join()).not.toContain('waits');
});

test('a worker of a new generation starts when older gateways have gone, and waits for no api', async () => {
  const gateway = await report('push-gateway', former);
  await report('api', former);
  const worker = startWorker();
  await logged(/ of worker waits until these have gone: push-gateway \S+ \(version 0\.0\.9, generation 0\)$/);
  expect(worker.hasStarted).toBe(false);
  await gateway.remove();
  await worker.started;
  expect(await record(thisBuild.generation)).toBeNull();
});

test('an upgrade keeps the order again after a rollback', async () => {
  const { started } = watchApi({}, { build: { ...later, needs: 0 } });
  await (await started).close();
  await watchApi().started;
  const worker = await report('worker', thisBuild);
  const again = watchApi({}, { build: { ...later, needs: 0 } });
  await logged(/^version 9\.0\.0 \(generation 2\) of api waits until these have gone: worker \S+ \(version /);
  await worker.remove();
  await again.started;
});

test.each([
  ['stays', {}, { upgradeTimes: { stallMs: 50 } }],
  ['stays, if VERSION_CHECKS is warn', { VERSION_CHECKS: 'warn' }, {}],
])('an api starts at last beside an older worker that %s, and logs which', async (_, settings, overrides) => {
  await report('worker', former);
  await watchApi(settings, overrides).started;
  await logged(/^goes on all the same: .* worker \S+ \(version 0\.0\.9, generation 0\)$/);
});

test('an api starts without Redis, on a new database and on one of its own generation', async () => {
  const settings = { REDIS_URL: 'redis://127.0.0.1:1' };
  await watchApi(settings).started;
  await logged(/^goes on all the same: .* waits until Redis names the running processes$/);
  log.lines.length = 0;
  await watchApi(settings).started;
  expect(messages().join()).not.toContain('waits');
});

test.each([
  ['api', () => watchApi(), () => watchApi({ VERSION_CHECKS: 'warn' })],
  ['worker', () => startWorker(), () => startWorker({ VERSION_CHECKS: 'warn' })],
])(
  'a build that is too old for the data does not start (%s), unless VERSION_CHECKS is warn',
  async (_, start, force) => {
    await stores().upgrades.note(later, 'completed_at');
    const service = start();
    await logged(
      /^version \S+ \(generation 1\) must not run on data that needs generation 2 since 2\S+: run version 9\.0\.0 or later$/,
    );
    await force().started;
    expect(service.hasStarted).toBe(false);
    await collectionsOf(mongo.db(name)).upgrades.deleteMany({});
    await service.started;
  },
);

/** Creates the admission of a process of that build, which looks at the running processes all the time. */
function admissionOf(build: typeof thisBuild, onLook = () => undefined as unknown) {
  const running = () => {
    onLook();
    return readProcessReports(redis, redisKeys(name));
  };
  const parts = { upgrades: stores().upgrades, running, mode: 'enforce', logger: log.logger, lookMs: 5 } as const;
  return createAdmission({ ...parts, service: 'worker', build });
}

test('an upgrade is complete when no older process runs; a build too old for the data then turns unready', async () => {
  const older = await report('api', thisBuild);
  await report('worker', later);
  const former = admissionOf(thisBuild);
  await former.admit(stopping.signal);
  let looks = 0;
  await admissionOf(later, () => (looks += 1)).admit(stopping.signal);
  await waitUntil(async () => looks >= 5, { what: 'looks', timeoutMs: 60_000, intervalMs: 5 });
  expect([await record(later.generation), await former.check.run()]).toEqual([null, { ok: true }]);
  await older.remove();
  const isOut = async () => !(await former.check.run()).ok;
  await waitUntil(isOut, { what: 'the refusal', timeoutMs: 60_000, intervalMs: 5 });
  expect(await record(later.generation)).toMatchObject({ needs: 2, completed_at: expect.any(Date) });
  expect((await former.check.run()).reason).toContain('run version 9.0.0 or later');
});

const migration = fileURLToPath(new URL('../../../services/api/bin/migrate.ts', import.meta.url));

/** Runs the migration, and returns its exit code and its last line. */
async function migrate(settings: Record<string, string | undefined> = {}): Promise<[unknown, string]> {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [migration], {
    env: { PATH, ...env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return [
    code,
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).msg)
      .join('\n'),
  ];
}

test('the migration refuses to bring a build beside one that is too old, and says which and what to do', async () => {
  await report('worker', tooOld);
  const refusal =
    /^version \S+ \(generation 1\) must not run beside worker \S+ \(version 0\.0\.1, generation -1\): first upgrade to a version of generation 0, or stop all older processes$/;
  expect(await migrate()).toEqual([78, expect.stringMatching(refusal)]);
  expect(await migrate({ VERSION_CHECKS: 'warn' })).toEqual([0, expect.stringContaining('are in place')]);
});

test('the migration refuses to bring a build that is too old for the data', async () => {
  await stores().upgrades.note(later, 'completed_at');
  expect(await migrate()).toEqual([
    78,
    expect.stringMatching(/^version \S+ \(generation 1\) must not run on data that /),
  ]);
});

test('the migration runs beside the former generation, and without Redis, and says that it has not compared', async () => {
  await report('worker', former);
  expect(await migrate()).toEqual([0, 'collections and indexes are in place']);
  const unchecked = expect.stringMatching(/ the versions of the running processes are not checked\n.* are in place$/s);
  expect(await migrate({ REDIS_URL: undefined })).toEqual([0, unchecked]);
  expect(await migrate({ REDIS_URL: 'redis://127.0.0.1:1' })).toEqual([0, unchecked]);
});
