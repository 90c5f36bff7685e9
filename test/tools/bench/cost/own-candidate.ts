import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KeyFiles, nodeFor, SERVICES } from '@auth-account/local-stack';
import { type Collections, collectionsOf, ensureIndexes } from '@auth-account/stores';
import { hashSync } from '@node-rs/argon2';
import { MongoClient } from 'mongodb';
import { password } from '../../../support/api/accounts.ts';
import { apiAt } from '../../../support/api/api-driver.ts';
import { seedAccounts } from '../../../support/api/seed-accounts.ts';
import { completeDenyListOf } from '../../../support/gateway/gateway-fixture.ts';
import { keepConnections } from '../../../support/http-client.ts';
import { serviceEnvironment } from '../../../support/service-environment.ts';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { uniqueName } from '../../../support/test-environment.ts';
import { startServer } from '../machine/start-server.ts';
import { type Candidate, operations, type TestBed } from './operations.ts';
import { createSessionSeeds, seededTokenSeconds } from './session-seeds.ts';

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

/** The directory of this project. */
export const project = join(import.meta.dirname, '../../../..');

/** Returns the plan of a candidate for the api of a checkout of this project. */
export function apiOf(name: string, directory = project, nodeArguments: readonly string[] = []): CandidatePlan {
  const main = join(directory, 'services/api/src/main.ts');
  return { name, main, node: nodeFor(main), nodeArguments };
}

/** The Node of this project's api, which also runs the prototype and the peer. */
export const apiNode = nodeFor(SERVICES.api.main);

export const barePrototype: CandidatePlan = {
  name: 'bare prototype',
  main: fileURLToPath(new URL('./bare-prototype.ts', import.meta.url)),
  node: apiNode,
};

export type OwnCandidate = Awaited<ReturnType<typeof startOwnCandidate>>;

/**
 * Starts a candidate that stores its data as this project does. `on` returns the same server as a candidate whose
 * operations take accounts and sessions from another test bed.
 */
export async function startOwnCandidate(plan: CandidatePlan, { mongo, keys }: TestServers) {
  const database = uniqueName();
  const client = new MongoClient(mongo.uri);
  const db = client.db(database);
  await ensureIndexes(db);
  // Otherwise the api would have to ask MongoDB about each token.
  await completeDenyListOf(database);
  const server = await startServer(
    [plan.node, ...(plan.nodeArguments ?? []), plan.main],
    /"port":(\d+)[^\n]*"api listens"/,
    { ...serviceEnvironment(database), ...settings, ...plan.env },
  );
  const agent = keepConnections({ maxSockets: 64 });
  const base = `http://127.0.0.1:${server.port}`;
  const api = apiAt(base, { agent });
  const on = (testBed: TestBed): Candidate => ({
    name: plan.name,
    pid: server.pid,
    prepare: (operation, count) => operations[operation](api, testBed, count),
    async end() {
      agent.destroy();
      await server.end('SIGTERM');
      await db.dropDatabase();
      await client.close();
    },
  });
  const collections = collectionsOf(db);
  return { ...on(newTestBed(collections, keys)), collections, base, on };
}

/** Settings as in production, with access lines, but with a fast shutdown. A killed process would write no profile. */
const settings = {
  API_PORT: '0',
  API_OPS_PORT: '0',
  VALIDATE_RESPONSES: 'false',
  SHUTDOWN_DELAY_SECONDS: '0',
  ACCESS_TOKEN_MAX_TTL_SECONDS: String(seededTokenSeconds),
};

/** Creates a test bed that writes new accounts and sessions, as if registrations and logins had created them. */
export function newTestBed(collections: Collections, keys: KeyFiles): TestBed {
  return {
    refreshesEach: 16,
    accounts: (count) => seedAccounts(collections, count, makeHash()),
    async sessions(count) {
      const { newSession } = await createSessionSeeds(keys);
      const seeds = Array.from({ length: count }, () => newSession());
      await collections.sessions.insertMany(seeds.map(({ document }) => document));
      return seeds.map(({ session }) => session());
    },
  };
}

/** Returns the PHC string of the seeded accounts' password, by the api's default parameters (OWASP). */
export function makeHash(): string {
  return hashSync(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

/** Returns the CPU milliseconds (user and system) of one Argon2id hash, in a process that does nothing else. */
export function bareHashMs(count: number): number {
  const before = process.cpuUsage();
  for (let done = 0; done < count; done += 1) makeHash();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / count;
}
