import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { apiNode } from '../cost/own-candidate.ts';

/** The machine on which a run took place. */
export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  /** The version of the api's Node, which also runs the api's peers. */
  readonly apiNode: string;
  /** The version of the Node that runs the gateway and the load. */
  readonly node: string;
  readonly mongodb: string;
  readonly redis: string;
  /** The average number of processes that wanted a core in the minute before. */
  readonly loadBefore: number;
}

export async function describeMachine({ mongo, redis }: TestServers, now: Date): Promise<Machine> {
  const [loadBefore = 0] = loadavg();
  const [first] = cpus();
  return {
    date: now.toISOString().slice(0, 10),
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${await systemName()}, Linux ${release()}`,
    apiNode: execFileSync(apiNode, ['--version'], { encoding: 'utf8' }).trim(),
    node: process.version,
    mongodb: await mongodbVersion(mongo.uri),
    redis: await redisVersion(redis.url),
    loadBefore: Math.round(loadBefore * 100) / 100,
  };
}

async function systemName(): Promise<string> {
  return /^PRETTY_NAME="?([^"\n]+)/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
}

async function mongodbVersion(uri: string): Promise<string> {
  const client = new MongoClient(uri);
  try {
    const { version } = await client.db('admin').command({ buildInfo: 1 });
    return version;
  } finally {
    await client.close();
  }
}

async function redisVersion(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    return /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
  } finally {
    redis.disconnect();
  }
}
