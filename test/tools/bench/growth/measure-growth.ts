import { setTimeout as delay } from 'node:timers/promises';
import type { Collections } from '@auth-account/stores';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { costMedians, medianHashMs } from '../cost/cost-table.ts';
import { measureSideBySide, preparedRounds } from '../cost/measure-side-by-side.ts';
import { type OperationName, operationNames, type TestBed } from '../cost/operations.ts';
import { apiOf, type OwnCandidate, startOwnCandidate } from '../cost/own-candidate.ts';
import { loadOf, warmUpLoad } from '../cost/rounds.ts';
import { comparedRounds } from '../cost/steady-state.ts';
import { adminCommand, fillingCacheMib, roomyCacheMib, setMongoCache } from '../machine/mongo.ts';
import { countCpu } from '../machine/process-usage.ts';
import { fillStore } from './fill-store.ts';

/** Cost of the operations with this number of users in the store. */
export type GrowthLevel = Awaited<ReturnType<typeof measureLevel>> & {
  readonly users: number;
  readonly sessions: number;
};

/** Number of rounds of each operation at each size, and of operations in a round without hashes. */
const [rounds, count] = [11, 300];
/** The smallest cache that mongod takes (`--wiredTigerCacheSizeGB 0.25`). */
const smallCacheMib = 256;
/** Registrations come last, because each adds a user. */
const order: readonly OperationName[] = operationNames.toSorted(
  (a, b) => Number(a === 'register') - Number(b === 'register'),
);

/**
 * Measures one api process with a growing store, while MongoDB's cache can hold the store, or 4 GiB of it. Then
 * measures the largest store again with the smallest cache. `sizes` are numbers of users in the store, rising.
 */
export async function measureGrowth(
  servers: TestServers,
  sizes: readonly number[],
  log: (line: string) => void,
): Promise<GrowthLevel[]> {
  const api = await startOwnCandidate(apiOf('api'), servers);
  try {
    const levels: GrowthLevel[] = [];
    let sessions = 0;
    for (const [place, users] of sizes.entries()) {
      const caches = place === sizes.length - 1 ? [roomyCacheMib, smallCacheMib] : [roomyCacheMib];
      await setMongoCache(servers.mongo.uri, fillingCacheMib);
      const begun = performance.now();
      const testBed = await fillStore(api.collections, servers.keys, {
        users: users - (sizes[place - 1] ?? 0),
        ...needed(caches.length),
      });
      sessions += testBed.sessionCount;
      log(`  ${users} users, ${sessions} sessions: filled in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
      for (const cacheMib of caches) {
        levels.push({ users, sessions, ...(await measureLevel(api, testBed, servers, cacheMib)) });
        log(`  measured after ${((performance.now() - begun) / 1_000).toFixed(0)} s: ${JSON.stringify(levels.at(-1))}`);
      }
    }
    return levels;
  } finally {
    await setMongoCache(servers.mongo.uri, roomyCacheMib);
    await api.end();
  }
}

/** Returns the most accounts and sessions that `times` measurements can ask for. */
function needed(times: number) {
  const maxCount = (name: OperationName) => {
    const { count: each, maxRounds } = warmUpLoad(name);
    // Data are created for several rounds together, and disturbed rounds are repeated.
    return times * ((maxRounds + comparedRounds) * each + (2 * rounds + preparedRounds) * loadOf(name, count).count);
  };
  return { accounts: maxCount('login'), sessions: maxCount('refresh') + maxCount('logout') + maxCount('session read') };
}

async function measureLevel(api: OwnCandidate, testBed: TestBed, servers: TestServers, cacheMib: number) {
  await setMongoCache(servers.mongo.uri, cacheMib);
  await settle(servers.mongo.uri, servers.mongo.pids());
  const { measured } = await measureSideBySide([api.on(testBed)], servers, {
    names: order,
    rounds,
    load: (name) => loadOf(name, count),
  });
  return {
    cacheMib,
    storeMib: await storeMib(api.collections),
    costs: costMedians(measured),
    bareHashMs: medianHashMs(measured),
  };
}

/** Returns the size of the indexes and of the documents, which the cache holds uncompressed. */
async function storeMib({ users, groups, sessions }: Collections): Promise<number> {
  let bytes = 0;
  for (const { collectionName } of [users, groups, sessions]) {
    const { size, totalIndexSize } = await users.db.command({ collStats: collectionName });
    bytes += size + totalIndexSize;
  }
  return Math.round(bytes / 2 ** 20);
}

const idleShare = 0.03;
const lookMs = 1_000;
const maxMs = 60_000;

/** Writes the data to disk now, so that it does not count as a cost of the measured operations. */
async function settle(uri: string, pids: readonly number[]): Promise<void> {
  await adminCommand(uri, { fsync: 1 });
  const end = performance.now() + maxMs;
  while (performance.now() < end) {
    const usedMs = countCpu(pids);
    await delay(lookMs);
    if (usedMs() < idleShare * lookMs) return;
  }
}
