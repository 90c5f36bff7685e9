import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { startTestServers, type TestServers } from '../../support/stores/start-test-servers.ts';
import { installCommand, installSeparately } from '../separate-install.ts';
import { betterAuthDirectory, betterAuthVersion, startBetterAuth } from './cost/better-auth.ts';
import { measureOperations, type StartCandidate } from './cost/measure-operations.ts';
import { measureOverload } from './cost/measure-overload.ts';
import { findOperations, measuringOrder, type OperationName } from './cost/operations.ts';
import { apiOf, barePrototype, type CandidatePlan, project, startOwnCandidate } from './cost/own-candidate.ts';
import { type GrowthLevel, measureGrowth } from './growth/measure-growth.ts';
import { otherUse, readCpuCounters, waitForQuiet } from './machine/cpu-counters.ts';
import { describeMachine, roomyCacheMib, setMongoCache } from './machine/describe-machine.ts';
import { measureBroadcasts } from './push/measure-broadcasts.ts';
import { measureEvents } from './push/measure-events.ts';
import { measureLogouts } from './push/measure-logouts.ts';
import { measureStreams } from './push/measure-streams.ts';
import type { BenchResults, OperationsResult, Surroundings } from './report/aims.ts';
import { benchmarksPage } from './report/benchmarks-page.ts';

/**
 * `npm run bench [-- options]`: starts everything, measures all candidates in one run, prints the results, and writes
 * docs/benchmarks.md if all parts were measured.
 *
 * - `--only NAMES`: the parts to measure, of operations, events, push and growth (all); or single operations,
 *   of session-read, refresh, logout, register and login
 * - `--seconds N`: duration of each operation at each server (8)
 * - `--no-cold`: leaves out the first operations of new processes
 * - `--against DIRECTORY`: measures the operations of the api of another checkout too
 * - `--traced`: measures them also with each request traced, and with one in a hundred traced, beside a collector that
 *   accepts OTLP and does nothing
 * - `--profile DIRECTORY`: writes the api's CPU profile there
 * - `--wait SECONDS`: longest wait for a quiet machine, of all parts together (180)
 * - `--users LIST`: numbers of users in the store, rising (100000,1000000)
 * - `--sessions-each N`: live sessions of each of them (1)
 * - `--streams LIST`: numbers of streams on one gateway, rising (1000,5000,10000,19000)
 * - `--install-peers`: installs better-auth from npm if it is missing, which is otherwise left out
 * - `--growth-data DIRECTORY`: directory of the growing store's files, for more users than memory can hold (default:
 *   a file system in memory, if there is one with enough space)
 * - `--docs DIRECTORY`: directory of the page; with this option it is written even if only some parts were measured
 */
const { values } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: 'string', default: 'operations,events,push,growth' },
    seconds: { type: 'string', default: '8' },
    cold: { type: 'boolean', default: true },
    against: { type: 'string' },
    traced: { type: 'boolean', default: false },
    profile: { type: 'string' },
    wait: { type: 'string', default: '180' },
    users: { type: 'string', default: '100000,1000000' },
    'sessions-each': { type: 'string', default: '1' },
    streams: { type: 'string', default: '1000,5000,10000,19000' },
    'install-peers': { type: 'boolean', default: false },
    'growth-data': { type: 'string' },
    docs: { type: 'string' },
  },
});
const parts = ['operations', 'events', 'push', 'growth'] as const;
const only = values.only.split(',');
const singles = findOperations(values.only, parts);
const numbers = (list: string) => list.split(',').map(Number);
const log = (line: string) => console.error(line);

if (isWanted('operations') && betterAuthVersion() === undefined) {
  if (values['install-peers']) installSeparately(betterAuthDirectory);
  else log(`left out, as it is not installed: better-auth (${installCommand(betterAuthDirectory)})`);
}
const begun = performance.now();
const servers = await startTestServers();
try {
  const page = benchmarksPage(await measure(servers));
  console.log(page);
  const isWhole = parts.every((part) => only.includes(part));
  if (isWhole || values.docs) await writeFile(join(values.docs ?? join(project, 'docs'), 'benchmarks.md'), page);
} finally {
  await servers.stop();
}

function isWanted(part: (typeof parts)[number]): boolean {
  return only.includes(part) || (part === 'operations' && singles.length > 0);
}

async function measure(running: TestServers): Promise<BenchResults> {
  const machine = await describeMachine(running);
  await setMongoCache(running.mongo.uri, roomyCacheMib);
  const surroundings: Surroundings[] = [];
  let maxWait = Number(values.wait);
  const part = async <K extends (typeof parts)[number]>(name: K, work: () => Promise<NonNullable<BenchResults[K]>>) => {
    if (!isWanted(name)) return {};
    log(`${name}, after ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
    const wait = await waitForQuiet(maxWait, log);
    maxWait = Math.max(0, maxWait - wait.waitedSeconds);
    const before = readCpuCounters();
    const result = await work();
    const after = readCpuCounters();
    surroundings.push({ part: name, ...wait, seconds: (after.at - before.at) / 1_000, ...otherUse(before, after) });
    return { [name]: result };
  };
  const names = only.includes('operations') ? measuringOrder : singles;
  const measured = {
    ...(await part('operations', () => measureCandidates(running, names))),
    ...(await part('events', measureEvents)),
    ...(await part('push', async () => ({
      streams: await measureStreams(numbers(values.streams), log),
      broadcasts: await measureBroadcasts(),
      logouts: await measureLogouts(running.keys),
    }))),
    ...(await part('growth', () => measureStoreGrowth(running))),
  };
  return { machine, minutes: (performance.now() - begun) / 60_000, surroundings, ...measured };
}

/** Measures the operations at the api, at the bare prototype, at better-auth if it is installed, and as options say. */
async function measureCandidates(running: TestServers, names: readonly OperationName[]): Promise<OperationsResult> {
  const { against, profile, traced, cold: hasCold } = values;
  const collector = traced ? await startOtlpReceiver({ keep: false }) : undefined;
  const tracing = (name: string, share: number): CandidatePlan => ({
    ...apiOf(name, project, ['--import', resolve(project, 'libs/telemetry/src/preload.ts')]),
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector?.url ?? '',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: String(share),
    },
  });
  const profiled = apiOf('api', project, ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${profile}`]);
  const plans = [
    ...(traced ? [tracing('api, 1 in 100 traced', 0.01), tracing('api, traced', 1)] : []),
    ...(against ? [apiOf('api of the other checkout', resolve(against))] : []),
    barePrototype,
  ];
  const betterAuth = betterAuthVersion();
  const starts: StartCandidate[] = [
    (isCold) => startOwnCandidate(profile && !isCold ? profiled : apiOf('api'), running),
    ...plans.map((plan) => () => startOwnCandidate(plan, running)),
    ...(betterAuth === undefined ? [] : [() => startBetterAuth(running)]),
  ];
  const options = { names, seconds: Number(values.seconds), hasCold, log };
  try {
    const costs = await measureOperations(starts, running, options);
    const overload = names.includes('login') ? await measureOverload(running) : undefined;
    return { ...costs, betterAuth, overload };
  } finally {
    await collector?.close();
  }
}

/** Measures growth, on separate servers if `--growth-data` names a directory. */
async function measureStoreGrowth(running: TestServers): Promise<GrowthLevel[]> {
  const parent = values['growth-data'];
  const own = parent === undefined ? undefined : await startTestServers(undefined, { parent });
  try {
    const sizes = { users: numbers(values.users), sessionsEach: Number(values['sessions-each']) };
    return await measureGrowth(own ?? running, sizes, log);
  } finally {
    await own?.stop();
  }
}
