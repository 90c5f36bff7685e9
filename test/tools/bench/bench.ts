import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestServers, type TestServers } from '../../support/stores/start-test-servers.ts';
import { measureOperations } from './cost/measure-operations.ts';
import { roomyCacheMib, setMongoCache } from './cost/mongo-cache.ts';
import { findOperation, measuringOrder } from './cost/operations.ts';
import { peers } from './cost/peers.ts';
import { measureEventLatency } from './events/measure-event-latency.ts';
import { type GrowthLevel, measureGrowth } from './growth/measure-growth.ts';
import { installPeer, isInstalled, peerInstallCommand } from './peers/peer-installs.ts';
import { maxStreamsPerProcess } from './push/descriptor-limit.ts';
import { measureLogouts } from './push/measure-logouts.ts';
import { measureStreams } from './push/measure-streams.ts';
import { otherUse, readCpuCounters } from './quiet/cpu-counters.ts';
import { waitForQuiet } from './quiet/wait-for-quiet.ts';
import { benchmarksPage } from './report/benchmarks-page.ts';
import { describeMachine } from './report/machine.ts';
import type { BenchResults, PushResult, Surroundings } from './report/results.ts';

/**
 * `npm run bench [-- options]`: starts everything, measures all candidates in one run, prints the results, and writes
 * docs/benchmarks.md if all parts were measured.
 *
 * - `--only NAMES`: the parts to measure, of operations, events, push and growth (all); or single operations,
 *   of session-read, refresh, logout, register and login
 * - `--seconds N`: duration of each operation at each server (8)
 * - `--wait SECONDS`: longest wait for a quiet machine, of all parts together (180)
 * - `--users LIST`: numbers of users in the store, rising (100000,1000000)
 * - `--streams LIST`: numbers of streams on one gateway, rising (1000,5000,10000,19000)
 * - `--logouts N`: logouts per second at the api, for ten seconds (200)
 * - `--install-peers`: installs missing peers from npm, which are otherwise left out
 * - `--growth-data DIRECTORY`: directory of the growing store's files, for more users than memory can hold (default:
 *   a file system in memory, if there is one with enough space)
 * - `--json FILE`: writes the results to the file
 * - `--docs DIRECTORY`: directory of the page; with this option it is written even if only some parts were measured
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'operations,events,push,growth' },
    seconds: { type: 'string', default: '8' },
    wait: { type: 'string', default: '180' },
    users: { type: 'string', default: '100000,1000000' },
    streams: { type: 'string', default: '1000,5000,10000,19000' },
    logouts: { type: 'string', default: '200' },
    'install-peers': { type: 'boolean', default: false },
    'growth-data': { type: 'string' },
    json: { type: 'string' },
    docs: { type: 'string' },
  },
});
const parts = ['operations', 'events', 'push', 'growth'] as const;
const only = values.only.split(',');
const singles = measuringOrder.filter((name) => only.some((wanted) => findOperation(wanted) === name));
const unknown = only.filter((name) => findOperation(name) === undefined && !parts.some((part) => part === name));
if (unknown.length > 0) {
  throw new Error(`--only knows ${[...parts, ...measuringOrder].join(', ')}, not ${unknown.join(', ')}`);
}
const numbers = (list: string) => list.split(',').map(Number);
const seconds = Number(values.seconds);
const project = resolve(import.meta.dirname, '../../..');
const eventCount = 200;
const growth = { rounds: 11, count: 300 };
const log = (line: string) => console.error(line);

const leftOut: string[] = [];
if (isWanted('operations')) for (const { name } of peers) provide(name);
const begun = performance.now();
const servers = await startTestServers();
try {
  const results = await measure(servers);
  const page = benchmarksPage(results);
  console.log(page);
  if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
  const isWhole = parts.every((part) => only.includes(part));
  if (isWhole || values.docs) await writeFile(join(values.docs ?? join(project, 'docs'), 'benchmarks.md'), page);
} finally {
  await servers.stop();
}

function isWanted(part: (typeof parts)[number]): boolean {
  return only.includes(part) || (part === 'operations' && singles.length > 0);
}

function provide(name: string): void {
  if (isInstalled(name)) return;
  if (values['install-peers']) {
    log(`installing ${name}`);
    installPeer(name);
    return;
  }
  log(`left out, as it is not installed: ${name} (${peerInstallCommand(name)})`);
  leftOut.push(name);
}

async function measure(running: TestServers): Promise<BenchResults> {
  const machine = await describeMachine(running, new Date());
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
  const installed = peers.filter(({ name }) => !leftOut.includes(name));
  const measured = {
    ...(await part('operations', () => measureOperations(running, { project, names, seconds, peers: installed, log }))),
    ...(await part('events', () => measureEventLatency(eventCount))),
    ...(await part('push', measurePush)),
    ...(await part('growth', () => measureStoreGrowth(running))),
  };
  return { machine, leftOut, minutes: (performance.now() - begun) / 60_000, surroundings, ...measured };
}

/** Measures growth, on separate servers if `--growth-data` names a directory. */
async function measureStoreGrowth(running: TestServers): Promise<GrowthLevel[]> {
  const parent = values['growth-data'];
  const own = parent === undefined ? undefined : await startTestServers(undefined, { parent });
  try {
    return await measureGrowth(own ?? running, { ...growth, project, sizes: numbers(values.users), log });
  } finally {
    await own?.stop();
  }
}

async function measurePush(): Promise<PushResult> {
  const limit = await maxStreamsPerProcess();
  const sizes = numbers(values.streams).filter((size) => size <= limit);
  const perSecond = Number(values.logouts);
  return {
    streams: await measureStreams({ sizes, log }),
    logouts: await measureLogouts({ single: 300, warmUp: 2_000, perSecond, seconds: 10, log }),
  };
}
