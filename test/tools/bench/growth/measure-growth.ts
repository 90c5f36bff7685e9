import { setTimeout as delay } from 'node:timers/promises';
import type { Collections } from '@auth-account/stores';
import { MongoClient } from 'mongodb';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import type { Candidate } from '../cost/candidate.ts';
import { costMedians, type MedianCost, medianHashMs } from '../cost/cost-medians.ts';
import { defaultAtOnce, warmUpLoad } from '../cost/loads.ts';
import { measureSideBySide, preparedRounds } from '../cost/measure-side-by-side.ts';
import { fillingCacheMib, roomyCacheMib, setMongoCache } from '../cost/mongo-cache.ts';
import { hashedOperations, type OperationName, operationNames } from '../cost/operations.ts';
import { apiOf, startOwnCandidate } from '../cost/own-candidate.ts';
import { comparedRounds } from '../cost/steady-state.ts';
import { countCpu } from '../push/process-usage.ts';
import { fillStore } from './fill-store.ts';

export interface GrowthOptions {
  readonly project: string;
  /** Numbers of users in the store, rising. */
  readonly sizes: readonly number[];
  /** Rounds of each operation at each size. */
  readonly rounds: number;
  /** Operations in a round without hashes; a round with hashes has a tenth of them. */
  readonly count: number;
  readonly log: (line: string) => void;
}

/** Cost of the operations with `users` users in the store. */
export interface GrowthLevel {
  readonly users: number;
  readonly sessions: number;
  /** Size of the documents and indexes, as they are in MongoDB's cache. */
  readonly storeMib: number;
  readonly cacheMib: number;
  readonly costs: readonly MedianCost[];
  readonly bareHashMs: number;
}

/** The smallest cache that mongod takes (`--wiredTigerCacheSizeGB 0.25`). */
const smallCacheMib = 256;
/** Registrations come last, because each adds a user. */
const order: readonly OperationName[] = operationNames.toSorted(
  (a, b) => Number(a === 'register') - Number(b === 'register'),
);

/**
 * Measures one api process with a growing store, while MongoDB's cache can hold the store, or 4 GiB of it. Then
 * measures the largest store again with the smallest cache.
 */
export async function measureGrowth(servers: TestServers, options: GrowthOptions): Promise<GrowthLevel[]> {
  const { sizes, project, log } = options;
  const api = await startOwnCandidate(apiOf('api', project), servers);
  try {
    const levels: GrowthLevel[] = [];
    let sessions = 0;
    for (const [place, users] of sizes.entries()) {
      const caches = place === sizes.length - 1 ? [roomyCacheMib, smallCacheMib] : [roomyCacheMib];
      await setMongoCache(servers.mongo.uri, fillingCacheMib);
      const begun = performance.now();
      const testBed = await fillStore(api.collections, servers.keys, {
        users: users - (sizes[place - 1] ?? 0),
        ...needed(options, caches.length),
      });
      sessions += testBed.sessionCount;
      log(`  ${users} users, ${sessions} sessions: filled in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
      for (const cacheMib of caches) {
        const level = await measureLevel(api.on(testBed), servers, { ...options, cacheMib });
        levels.push({ users, sessions, storeMib: await storeMib(api.collections), cacheMib, ...level });
        log(`  measured after ${((performance.now() - begun) / 1_000).toFixed(0)} s: ${JSON.stringify(levels.at(-1))}`);
      }
    }
    return levels;
  } finally {
    await setMongoCache(servers.mongo.uri, roomyCacheMib);
    await api.end();
  }
}

const loadOf = (name: OperationName, count: number) =>
  hashedOperations.has(name) ? { count: Math.ceil(count / 10), atOnce: 1 } : { count, atOnce: defaultAtOnce };

/** Returns the most accounts and sessions that `times` measurements can ask for. */
function needed({ rounds, count }: GrowthOptions, times: number) {
  const maxCount = (name: OperationName) => {
    const { count: each, maxRounds } = warmUpLoad(name);
    // Data are created for several rounds together, and disturbed rounds are repeated.
    return times * ((maxRounds + comparedRounds) * each + (2 * rounds + preparedRounds) * loadOf(name, count).count);
  };
  return { accounts: maxCount('login'), sessions: maxCount('refresh') + maxCount('logout') + maxCount('session read') };
}

interface LevelOptions extends GrowthOptions {
  readonly cacheMib: number;
}

async function measureLevel(
  candidate: Candidate,
  servers: TestServers,
  { cacheMib, rounds, count }: LevelOptions,
): Promise<Pick<GrowthLevel, 'costs' | 'bareHashMs'>> {
  await setMongoCache(servers.mongo.uri, cacheMib);
  await settle(servers.mongo.uri, servers.mongo.pids());
  const { measured } = await measureSideBySide([candidate], servers, {
    names: order,
    rounds,
    warmUp: warmUpLoad,
    load: (name) => loadOf(name, count),
    onOperation: () => undefined,
  });
  return { costs: costMedians(measured), bareHashMs: medianHashMs(measured) };
}

/** Returns the size of the indexes and of the documents, which the cache holds uncompressed. */
async function storeMib({ users, groups, sessions }: Collections): Promise<number> {
  const sizes = await Promise.all(
    [users, groups, sessions].map(async (collection) => {
      const [{ storageStats } = { storageStats: { size: 0, totalIndexSize: 0 } }] = await collection
        .aggregate<{ storageStats: { size: number; totalIndexSize: number } }>([{ $collStats: { storageStats: {} } }])
        .toArray();
      return storageStats.size + storageStats.totalIndexSize;
    }),
  );
  return Math.round(sizes.reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20);
}

const idleShare = 0.03;
const lookMs = 1_000;
const maxMs = 60_000;

/** Writes the data to disk now, so that it does not count as a cost of the measured operations. */
async function settle(uri: string, pids: readonly number[]): Promise<void> {
  const mongo = new MongoClient(uri);
  try {
    await mongo.db('admin').command({ fsync: 1 });
  } finally {
    await mongo.close();
  }
  const end = performance.now() + maxMs;
  while (performance.now() < end) {
    const usedMs = countCpu(pids);
    await delay(lookMs);
    if (usedMs() < idleShare * lookMs) return;
  }
}
