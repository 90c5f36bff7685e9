import { totalmem } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestServers } from '@auth-account/local-stack';
import { MongoClient } from 'mongodb';
import { costMedians, type MedianCost } from '../cost/cost-medians.ts';
import { measureSideBySide } from '../cost/measure-side-by-side.ts';
import { medianOf } from '../cost/median-of.ts';
import { hashedOperations, type OperationName, operationNames } from '../cost/operations.ts';
import { apiOf, type OwnCandidate, startOwnCandidate } from '../cost/own-candidate.ts';
import { cpuMs } from '../push/process-usage.ts';
import { fillStore } from './fill-store.ts';

export interface GrowthOptions {
  readonly project: string;
  /** Numbers of users in the store, rising. */
  readonly sizes: readonly number[];
  /** Rounds of each operation at each size. */
  readonly rounds: number;
  /** Operations in a round; a tenth of it if each needs a hash. */
  readonly count: number;
  readonly log: (line: string) => void;
}

/** Cost of the operations with that many users in the store. */
export interface GrowthLevel {
  readonly users: number;
  readonly sessions: number;
  readonly costs: readonly MedianCost[];
  readonly bareHashMs: number;
}

/** MongoDB's cache, in MiB: it has room for the data of a million users, if the machine has that much. */
const cacheMib = Math.floor(Math.min(4_096, totalmem() / 2 ** 20 / 2));
/** The process is new at the smallest size: V8 compiles the hot paths within a few thousand requests. */
const firstWarmUps = 3;
/** Registrations come last, because each adds a user. */
const order: readonly OperationName[] = operationNames.toSorted(
  (a, b) => Number(a === 'register') - Number(b === 'register'),
);

/** Measures one api process with a store that grows. */
export async function measureGrowth(servers: TestServers, options: GrowthOptions): Promise<GrowthLevel[]> {
  const { sizes, project, log } = options;
  const api = await startOwnCandidate(apiOf('api', project), servers);
  const mongo = new MongoClient(servers.mongo.uri);
  try {
    await mongo.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${cacheMib}M` });
    const levels: GrowthLevel[] = [];
    for (const users of sizes) {
      const begun = performance.now();
      const level = await measureLevel(api, servers, { ...options, users, mongo, before: levels.at(-1) });
      log(`  ${users} users, ${level.sessions} sessions: ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
      levels.push(level);
    }
    return levels;
  } finally {
    await mongo.close();
    await api.end();
  }
}

interface LevelOptions extends GrowthOptions {
  readonly users: number;
  readonly mongo: MongoClient;
  readonly before: GrowthLevel | undefined;
}

async function measureLevel(api: OwnCandidate, servers: TestServers, options: LevelOptions): Promise<GrowthLevel> {
  const { users, before, rounds, count, mongo } = options;
  const loadOf = (name: OperationName) =>
    hashedOperations.has(name) ? { count: Math.ceil(count / 10), atOnce: 1 } : { count, atOnce: 8 };
  const warmUps = before === undefined ? firstWarmUps : 1;
  const runs = rounds + warmUps;
  const adding = users - (before?.users ?? 0);
  const ground = await fillStore(api.collections, servers.keys, {
    users: adding,
    accounts: Math.min(adding, runs * loadOf('login').count),
    sessions: runs * (loadOf('refresh').count + loadOf('logout').count + Math.min(count, 100)),
  });
  await settle(mongo, servers.mongo.pids());
  const { measured, hashes } = await measureSideBySide([api.on(ground)], servers, {
    names: order,
    rounds,
    warmUp: (name) => ({ ...loadOf(name), count: loadOf(name).count * warmUps }),
    load: loadOf,
    onOperation: () => undefined,
  });
  const sessions = (before?.sessions ?? 0) + ground.sessionCount;
  return { users, sessions, costs: costMedians(measured), bareHashMs: medianOf(hashes) };
}

const idleShare = 0.03;
const lookMs = 1_000;
const longestMs = 60_000;

/** Writes the data to disk now, so that it does not count as a cost of the measured operations. */
async function settle(mongo: MongoClient, pids: readonly number[]): Promise<void> {
  await mongo.db('admin').command({ fsync: 1 });
  const used = () => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const end = performance.now() + longestMs;
  for (let before = used(); performance.now() < end; ) {
    await delay(lookMs);
    const now = used();
    if (now - before < idleShare * lookMs) return;
    before = now;
  }
}
