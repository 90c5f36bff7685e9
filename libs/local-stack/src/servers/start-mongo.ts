import { join } from 'node:path';
import { MongoClient, MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import type { Log } from '../log.ts';
import { provideMongodbBinary } from '../provision/provide-mongodb.ts';
import { configureReplicaSet } from './configure-replica-set.ts';
import { findFreePort } from './find-free-port.ts';
import { createMongoMember, type MongoMember } from './mongo-member.ts';
import type { OnSpawn } from './spawn-server.ts';
import { waitUntil } from './wait-until.ts';

const REPLICA_SET = 'rs0';
const PRIMARY_TIMEOUT_MS = 60_000;

export interface StartMongoOptions {
  /** Directory of the data and logs. It is kept when the servers stop. */
  readonly dir: string;
  /**
   * Existing directory for the members' logs (`mongod-0.log` and so on). If left out, each log is with its member's
   * data.
   */
  readonly logDir?: string;
  /**
   * Port of the first member. If left out, the first member gets a free port. The other members always get free ports.
   */
  readonly port?: number;
  readonly members?: 1 | 2 | 3;
  /**
   * Returns, in the same order, the ports through which members and clients reach the members. In fault tests these are
   * the ports of proxies. Called before anything starts.
   */
  readonly announce?: (ports: readonly number[]) => Promise<readonly number[]>;
  /** Passed to mongod as `--setParameter name=value`. */
  readonly setParameters?: Readonly<Record<string, string>>;
  /** Path of mongod. If left out, a mongod is found or provided. */
  readonly binary?: string;
  readonly log: Log;
  readonly onSpawn?: OnSpawn;
  /** Called if a member has ended without being stopped or killed through this library. */
  readonly onUnexpectedExit?: () => void;
}

export interface LocalMongo {
  /** Connection string of the replica set, without a database name. */
  readonly uri: string;
  /** Ports on which the members listen. */
  readonly ports: readonly number[];
  /** Returns the process ids of the members that run now. */
  pids(): number[];
  /** Returns the process id of the member with this index, or undefined while it does not run. */
  pid(member: number): number | undefined;
  /** Ends the members (or the member with this index) in an orderly way. */
  stop(member?: number): Promise<void>;
  /**
   * Sends a signal (default SIGKILL) to the members (or the member with this index) and waits until they have ended.
   */
  kill(signal?: NodeJS.Signals, member?: number): Promise<void>;
  /** Starts the members (or the member with this index) again, on the same ports and data, and waits for a primary. */
  start(member?: number): Promise<void>;
  /** Waits until one member accepts writes. Throws after `timeoutMs` (default 60,000). */
  waitForPrimary(timeoutMs?: number): Promise<void>;
}

/**
 * Starts a MongoDB replica set of one to three members on 127.0.0.1 and waits until it accepts writes. Data of an
 * earlier start are kept, even if it used another port. If a member does not start, throws an error with the end of its
 * log.
 */
export async function startMongo(options: StartMongoOptions): Promise<LocalMongo> {
  const binary = options.binary ?? (await provideMongodbBinary({ log: options.log }));
  const ports = await choosePorts(options.port, options.members ?? 1);
  const announced = (await options.announce?.(ports)) ?? ports;
  const members = ports.map((port, index) => {
    const dir = join(options.dir, `member-${index}`);
    return createMongoMember({
      binary,
      port,
      dir,
      logFile: options.logDir ? join(options.logDir, `mongod-${index}.log`) : join(dir, 'mongod.log'),
      replicaSet: REPLICA_SET,
      setParameters: options.setParameters ?? {},
      onSpawn: (pid) => options.onSpawn?.(pid),
      onUnexpectedExit: () => options.onUnexpectedExit?.(),
    });
  });
  const mongo = createLocalMongo(members, announced);
  try {
    await Promise.all(members.map((member) => member.start()));
    await raceWithDeath(members, (signal) => configureReplicaSet(REPLICA_SET, ports, announced, signal));
    await mongo.waitForPrimary();
  } catch (error) {
    await mongo.kill();
    throw error;
  }
  return mongo;
}

async function choosePorts(first: number | undefined, count: number): Promise<number[]> {
  const ports = new Set(first === undefined ? [] : [first]);
  while (ports.size < count) ports.add(await findFreePort());
  return [...ports];
}

function createLocalMongo(members: readonly MongoMember[], announced: readonly number[]): LocalMongo {
  const ports = members.map((member) => member.port);
  const chosen = (index?: number) => (index === undefined ? members : members.slice(index, index + 1));
  const end = async (signal: NodeJS.Signals, index?: number) => {
    await Promise.all(chosen(index).map((member) => member.end(signal)));
  };
  const waitWritable = (timeoutMs = PRIMARY_TIMEOUT_MS) =>
    waitForPrimary(ports, timeoutMs, async () => {
      if (members.every((member) => member.pid() === undefined)) await members[0]?.assertRunning();
    });
  return {
    uri: `mongodb://${announced.map((port) => `127.0.0.1:${port}`).join(',')}/?replicaSet=${REPLICA_SET}`,
    ports,
    pids: () => members.map((member) => member.pid()).filter((pid) => pid !== undefined),
    pid: (member) => members[member]?.pid(),
    stop: (index) => end('SIGTERM', index),
    kill: (signal = 'SIGKILL', index) => end(signal, index),
    async start(index) {
      await Promise.all(chosen(index).map((member) => member.start()));
      await waitWritable();
    },
    waitForPrimary: waitWritable,
  };
}

/**
 * Rejects and aborts the work as soon as a member ends. Otherwise the driver would wait for a mongod that has ended, and
 * its error would say less.
 */
async function raceWithDeath(
  members: readonly MongoMember[],
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const ended = new AbortController();
  const death = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      for (const member of members) member.assertRunning().catch(reject);
    }, 100);
  });
  try {
    await Promise.race([work(ended.signal), death]);
  } finally {
    ended.abort();
    clearInterval(timer);
  }
}

/**
 * Waits until a member on one of the ports is a primary that accepts writes. Calls `assertRunning` in between, so that
 * a dead mongod is reported at once.
 */
async function waitForPrimary(
  ports: readonly number[],
  timeoutMs: number,
  assertRunning: () => Promise<void>,
): Promise<void> {
  await waitUntil(
    async () => {
      await assertRunning();
      return (await Promise.all(ports.map(isWritablePrimary))).includes(true);
    },
    { what: `A writable MongoDB primary on 127.0.0.1, ports ${ports.join(', ')}`, timeoutMs, intervalMs: 20 },
  );
}

async function isWritablePrimary(port: number): Promise<boolean> {
  // A client can't be used again after its first connection has failed, so each attempt has its own client.
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 250,
    minHeartbeatFrequencyMS: 50,
  });
  try {
    const hello = await client.db('admin').command({ hello: 1 });
    return hello.isWritablePrimary === true;
  } catch (error) {
    // A member that does not listen yet, or is down in a fault test, is not a primary. Every other error is thrown.
    if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) return false;
    throw error;
  } finally {
    await client.close();
  }
}
