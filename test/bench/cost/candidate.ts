import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestServers } from '@auth-account/local-stack';
import { createDenyList, denialLifetimeMs, openRedis, redisKeys, workerOptions } from '@auth-account/messaging';
import { type Collections, collectionsOf, ensureIndexes } from '@auth-account/stores';
import { MongoClient } from 'mongodb';
import { processEnvironment } from '../../support/process-environment.ts';
import { serviceEnvironment, uniqueName } from '../../support/test-api.ts';
import { type ServerProcess, startServer } from '../push/server-process.ts';
import { type HttpLane, openHttpLane } from './http-lane.ts';

/** A server that answers the operations: a process with a database of its own. */
export interface Candidate {
  readonly name: string;
  readonly pid: number;
  readonly lane: HttpLane;
  readonly collections: Collections;
  end(): Promise<void>;
}

/** What is measured, and with which program. */
export interface CandidatePlan {
  readonly name: string;
  readonly main: string;
  /** Settings of the process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node. */
  readonly nodeArguments?: readonly string[];
}

/** The api of a checkout of this project. */
export function apiOf(name: string, directory: string, nodeArguments: readonly string[] = []): CandidatePlan {
  return { name, main: join(directory, 'services/api/src/main.ts'), nodeArguments };
}

export const barePrototype: CandidatePlan = {
  name: 'bare prototype',
  main: fileURLToPath(new URL('./bare-prototype.ts', import.meta.url)),
};

export async function startCandidate(plan: CandidatePlan, { mongo, redis }: TestServers): Promise<Candidate> {
  const database = uniqueName();
  const client = new MongoClient(mongo.uri);
  const db = client.db(database);
  await ensureIndexes(db);
  await completeDenyList(redis.url, database);
  const server = await startServer({
    command: [process.execPath, ...(plan.nodeArguments ?? []), plan.main],
    env: { ...processEnvironment(), ...serviceEnvironment(database), ...settings, ...plan.env },
    listening: /"port":(\d+)[^\n]*"api listens"/,
  });
  const lane = openHttpLane(server.port);
  return {
    name: plan.name,
    pid: server.pid,
    lane,
    collections: collectionsOf(db),
    end: () => end({ server, lane, client }),
  };
}

/** As in production, access lines too; a process is stopped in order, so that a profile of it is written. */
const settings = { API_PORT: '0', API_OPS_PORT: '0', VALIDATE_RESPONSES: 'false', SHUTDOWN_DELAY_SECONDS: '0' };

/** As a worker does: without it the api would have to ask MongoDB of each token. */
async function completeDenyList(url: string, keyPrefix: string): Promise<void> {
  const redis = openRedis({ REDIS_URL: url }, workerOptions());
  const rebuild = await createDenyList(redis, redisKeys(keyPrefix), denialLifetimeMs(600)).beginRebuild();
  if (!(await rebuild.complete())) throw new Error('the deny list was not completed');
  redis.disconnect();
}

interface Parts {
  readonly server: ServerProcess;
  readonly lane: HttpLane;
  readonly client: MongoClient;
}

async function end({ server, lane, client }: Parts): Promise<void> {
  lane.close();
  await server.end('SIGTERM');
  await client.close();
}
