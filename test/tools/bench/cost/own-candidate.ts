import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KeyFiles, nodeFor, SERVICES } from '@auth-account/local-stack';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { openRedis, redisKeys, workerOptions } from '@auth-account/redis';
import { type Collections, collectionsOf, ensureIndexes } from '@auth-account/stores';
import { MongoClient } from 'mongodb';
import { seedAccounts } from '../../../support/api/seed-accounts.ts';
import { processEnvironment } from '../../../support/processes/process-environment.ts';
import { serviceEnvironment } from '../../../support/service-environment.ts';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { uniqueName } from '../../../support/test-environment.ts';
import { startServer } from '../push/server-process.ts';
import { makeHash } from './bare-hash.ts';
import type { Candidate } from './candidate.ts';
import { openHttpLane } from './http-lane.ts';
import { operationNames, operations } from './operations.ts';
import { createSessionSeeds, seededTokenSeconds } from './session-seeds.ts';
import type { TestBed } from './test-bed.ts';

/** Program and settings of a candidate. */
export interface CandidatePlan {
  readonly name: string;
  readonly main: string;
  /** The path of Node's binary. */
  readonly node: string;
  /** Environment variables of the process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node. */
  readonly nodeArguments?: readonly string[];
}

/** Returns the plan of a candidate for the api of a checkout of this project. */
export function apiOf(name: string, directory: string, nodeArguments: readonly string[] = []): CandidatePlan {
  const main = join(directory, 'services/api/src/main.ts');
  return { name, main, node: nodeFor(main), nodeArguments };
}

/** The Node of this project's api, which also runs the prototype and the peers. */
export const apiNode = nodeFor(SERVICES.api.main);

export const barePrototype: CandidatePlan = {
  name: 'bare prototype',
  main: fileURLToPath(new URL('./bare-prototype.ts', import.meta.url)),
  node: apiNode,
};

/** A candidate that stores its data as this project does. */
export interface OwnCandidate extends Candidate {
  readonly collections: Collections;
  /** Returns the same server as a candidate whose operations take accounts and sessions from `ground`. */
  on(testBed: TestBed): Candidate;
}

export async function startOwnCandidate(plan: CandidatePlan, servers: TestServers): Promise<OwnCandidate> {
  const { mongo, redis, keys } = servers;
  const database = uniqueName();
  const client = new MongoClient(mongo.uri);
  const db = client.db(database);
  await ensureIndexes(db);
  await completeDenyList(redis.url, database);
  const server = await startServer({
    command: [plan.node, ...(plan.nodeArguments ?? []), plan.main],
    env: { ...processEnvironment(), ...serviceEnvironment(database), ...settings, ...plan.env },
    listening: /"port":(\d+)[^\n]*"api listens"/,
  });
  const lane = openHttpLane(server.port);
  const on = (testBed: TestBed): Candidate => ({
    name: plan.name,
    pid: server.pid,
    offers: operationNames,
    async prepare(operation, count) {
      const run = await operations[operation](testBed, count);
      return (index) => run(lane, index);
    },
    async end() {
      lane.close();
      await server.end('SIGTERM');
      await db.dropDatabase();
      await client.close();
    },
  });
  const collections = collectionsOf(db);
  return { ...on(newTestBed(collections, keys)), collections, on };
}

/** Settings as in production, with access lines, but with a fast shutdown. A killed process would write no profile. */
const settings = {
  API_PORT: '0',
  API_OPS_PORT: '0',
  VALIDATE_RESPONSES: 'false',
  SHUTDOWN_DELAY_SECONDS: '0',
  ACCESS_TOKEN_MAX_TTL_SECONDS: String(seededTokenSeconds),
};

/** Marks the deny list as complete, as a worker does. Otherwise the api would have to ask MongoDB about each token. */
async function completeDenyList(url: string, keyPrefix: string): Promise<void> {
  const redis = openRedis({ REDIS_URL: url }, workerOptions());
  const rebuild = await createDenyList(redis, redisKeys(keyPrefix), denialLifetimeMs(600)).beginRebuild();
  if (!(await rebuild.complete())) throw new Error('the deny list was not completed');
  redis.disconnect();
}

/** Creates a ground that writes new accounts and sessions, as if registrations and logins had created them. */
function newTestBed(collections: Collections, keys: KeyFiles): TestBed {
  return {
    refreshesEach: 16,
    accounts: (count) => seedAccounts(collections, count, makeHash()),
    async sessions(count) {
      const { newSession } = await createSessionSeeds(keys);
      const seeds = Array.from({ length: count }, () => newSession());
      await collections.sessions.insertMany(seeds.map(({ document }) => document));
      return seeds.map(({ tokens }) => tokens());
    },
  };
}
