import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { openRedis, workerOptions } from '@auth-account/redis';
import { type Document, MongoClient } from 'mongodb';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { apiNode } from '../cost/own-candidate.ts';
import { rounded } from '../report/figures.ts';

export type Machine = Awaited<ReturnType<typeof describeMachine>>;

/** Describes the machine on which a run takes place. */
export async function describeMachine({ mongo, redis }: TestServers) {
  const [loadBefore = 0] = loadavg();
  const [first] = cpus();
  const distribution = /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const client = openRedis({ REDIS_URL: redis.url }, workerOptions());
  const redisVersion = /^redis_version:(\S+)/m.exec(await client.info('server'))?.[1];
  client.disconnect();
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${distribution}, Linux ${release()}`,
    /** The version of the api's Node, which also runs the api's peer. */
    apiNode: execFileSync(apiNode, ['--version'], { encoding: 'utf8' }).trim(),
    /** The version of the Node that runs the gateway and the load. */
    node: process.version,
    mongodb: String((await adminCommand(mongo.uri, { buildInfo: 1 })).version),
    redis: redisVersion ?? 'unknown',
    /** The average number of processes that wanted a core in the minute before. */
    loadBefore: rounded(loadBefore),
  };
}

/** Runs a command of an administrator. */
export async function adminCommand(uri: string, command: Document): Promise<Document> {
  const mongo = new MongoClient(uri);
  try {
    return await mongo.db('admin').command(command);
  } finally {
    await mongo.close();
  }
}

const halfOfMemoryMib = Math.floor(totalmem() / 2 ** 20 / 2);

/** Size of MongoDB's cache in MiB. It can hold the data of a million users, if the machine has enough memory. */
export const roomyCacheMib = Math.min(4_096, halfOfMemoryMib);

/**
 * Size of MongoDB's cache in MiB while a store is filled. If the indexes exceeded it, each insert would read and evict
 * pages.
 */
export const fillingCacheMib = halfOfMemoryMib;

/** Changes the cache's size while MongoDB runs. The test servers start with 256 MiB. */
export async function setMongoCache(uri: string, mib: number): Promise<void> {
  await adminCommand(uri, { setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${mib}M` });
}
