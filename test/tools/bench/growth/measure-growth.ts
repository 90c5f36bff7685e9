import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type KeyFiles, waitUntil } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { newAccountSeed } from '../../../support/api/seed-accounts.ts';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { costMedians, medianHashMs } from '../cost/cost-table.ts';
import { type Measured, measureSideBySide, preparedRounds } from '../cost/measure-operations.ts';
import { type OperationName, operationNames, type TestBed } from '../cost/operations.ts';
import { apiOf, makeHash, type OwnCandidate, startOwnCandidate } from '../cost/own-candidate.ts';
import { comparedRounds, loadOf, warmUpLoad } from '../cost/rounds.ts';
import { createSessionSeeds, type SeededSession } from '../cost/session-seeds.ts';
import { adminCommand, fillingCacheMib, roomyCacheMib, setMongoCache } from '../machine/describe-machine.ts';
import { countCpu } from '../machine/process-usage.ts';

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

/** The sizes of the growing store. */
export interface GrowthSizes {
  /** Numbers of users in the store, rising. */
  readonly users: readonly number[];
  /** Live sessions of each user. */
  readonly sessionsEach: number;
}

/**
 * Measures one api process with a growing store, while MongoDB's cache can hold the store, or 4 GiB of it. Then
 * measures the largest store again with the smallest cache.
 */
export async function measureGrowth(
  servers: TestServers,
  { users: sizes, sessionsEach }: GrowthSizes,
  log: (line: string) => void,
): Promise<GrowthLevel[]> {
  const api = await startOwnCandidate(apiOf('api'), servers);
  await switchTtlMonitor(servers, false);
  await adminCommand(servers.mongo.uri, { setParameter: 1, ttlMonitorSleepSecs: 1 });
  try {
    const levels: GrowthLevel[] = [];
    let sessions = 0;
    for (const [place, users] of sizes.entries()) {
      const caches = place === sizes.length - 1 ? [roomyCacheMib, smallCacheMib] : [roomyCacheMib];
      await setMongoCache(servers.mongo.uri, fillingCacheMib);
      const begun = performance.now();
      const more = users - (sizes[place - 1] ?? 0);
      const wanted = { users: more, sessionsEach, ...needed(caches.length) };
      const testBed = await fillStore(api.collections, servers.keys, wanted);
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
    await switchTtlMonitor(servers, true);
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
  const measured: Measured[] = [];
  for (const operation of order) {
    const options = { rounds, load: (name: OperationName) => loadOf(name, count) };
    measured.push(...(await measureSideBySide(operation, [api.on(testBed)], servers, options)).measured);
  }
  return {
    cacheMib,
    storeMib: await storeMib(api.collections),
    costs: costMedians(measured),
    bareHashMs: medianHashMs(measured),
    expiryMs: await measureExpiry(api.collections, servers),
  };
}

/** The monitor is off while anything else is measured. */
async function switchTtlMonitor({ mongo }: TestServers, ttlMonitorEnabled: boolean): Promise<void> {
  await adminCommand(mongo.uri, { setParameter: 1, ttlMonitorEnabled });
}

/** Number of sessions that expire at once. */
const expiring = 20_000;

/** Returns the CPU milliseconds of MongoDB for each session that its TTL monitor removes. */
async function measureExpiry({ sessions }: Collections, servers: TestServers): Promise<number> {
  const { keys, mongo } = servers;
  const { fillerSession } = await createSessionSeeds(keys);
  const longAgo = new Date(0);
  const expired = Array.from({ length: expiring }, () => {
    const session = fillerSession({ userId: randomUUID(), groupId: randomUUID() });
    return { ...session, absolute_expires_at: longAgo };
  });
  await sessions.insertMany(expired, quickly);
  await settle(mongo.uri, mongo.pids());
  const isOver = async () => (await sessions.countDocuments({ absolute_expires_at: longAgo }, { limit: 1 })) === 0;
  const usedMs = countCpu(mongo.pids());
  await switchTtlMonitor(servers, true);
  await waitUntil(isOver, { what: 'the removal of expired sessions', timeoutMs: 600_000, intervalMs: 250 });
  const spentMs = usedMs();
  await switchTtlMonitor(servers, false);
  return spentMs / expiring;
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

/**
 * Writes the data to disk now, so that it does not count as a cost of the measured operations. Waits until MongoDB is
 * idle, for a minute at most.
 */
async function settle(uri: string, pids: readonly number[]): Promise<void> {
  await adminCommand(uri, { fsync: 1 });
  for (let looks = 0; looks < 60; looks += 1) {
    const usedMs = countCpu(pids);
    await delay(1_000);
    if (usedMs() < 30) return;
  }
}

const batch = 5_000;
const writersAtOnce = 3;
/**
 * The sessions start at random generations from 1 to this number. Each session is refreshed only once, and a refresh is
 * more expensive at some generations.
 */
const generations = 8;
/** Options for writing as an import would. The measured operations write as usual. */
const quickly = { ordered: false, writeConcern: { w: 1 } } as const;

/**
 * Adds `users`, each with a group and live sessions. Returns `accounts` and `sessions` of all batches, so that the
 * measured operations look for documents in the whole store, not only in its newest part. Each is given out once.
 */
async function fillStore(
  collections: Collections,
  keys: KeyFiles,
  {
    users,
    sessionsEach: atLeast,
    accounts,
    sessions,
  }: Readonly<Record<'users' | 'sessionsEach' | 'accounts' | 'sessions', number>>,
) {
  const passwordHash = makeHash();
  const { newSession, fillerSession } = await createSessionSeeds(keys);
  const sessionsEach = Math.max(atLeast, Math.ceil(sessions / users));
  const emails: string[] = [];
  const kept: (() => SeededSession)[] = [];

  async function writeBatch(index: number): Promise<void> {
    const length = Math.min(batch, users - index * batch);
    const seeds = Array.from({ length }, () => newAccountSeed(passwordHash));
    const owners = seeds.flatMap(({ user }) =>
      Array.from({ length: sessionsEach }, () => ({ userId: user._id, groupId: user.home_group_id })),
    );
    const inTurn = shuffled(owners);
    const wanted = Math.ceil((sessions * length) / users);
    const askedFor = inTurn
      .slice(0, wanted)
      .map((owner) => newSession(owner, 1 + Math.floor(Math.random() * generations)));
    const documents = [...askedFor.map(({ document }) => document), ...inTurn.slice(wanted).map(fillerSession)];
    const [groups, owned] = [seeds.map(({ group }) => group), seeds.map(({ user }) => user)];
    await collections.groups.insertMany(groups, quickly);
    await collections.users.insertMany(owned, quickly);
    await collections.sessions.insertMany(shuffled(documents), quickly);
    emails.push(...seeds.slice(0, Math.ceil((accounts * length) / users)).map(({ user }) => user.email));
    for (const { session } of askedFor) kept.push(session);
  }

  await runAtOnce({ count: Math.ceil(users / batch), atOnce: writersAtOnce }, writeBatch);
  const taking = <T>(from: readonly T[]) => {
    const left = shuffled(from);
    return async (count: number): Promise<T[]> => {
      if (left.length < count) throw new RangeError(`${count} items were asked for, there are ${left.length}`);
      return left.splice(0, count);
    };
  };
  const takeSessions = taking(kept);
  return {
    refreshesEach: 1,
    accounts: taking(emails),
    sessions: async (count: number) => (await takeSessions(count)).map((session) => session()),
    sessionCount: users * sessionsEach,
  };
}

/** Shuffles the items, so that each round of the benchmark gets items from the whole store. */
function shuffled<T>(list: readonly T[]): T[] {
  const placed = list.map((item) => ({ item, place: Math.random() }));
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}
