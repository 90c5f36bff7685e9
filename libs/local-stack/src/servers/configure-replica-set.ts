import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { waitUntil } from './wait-until.ts';

const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;
const TIMEOUT_MS = 60_000;

interface ReplicaSetConfig {
  readonly _id: string;
  readonly version: number;
  readonly members: readonly { readonly _id: number; readonly host: string }[];
  readonly settings: Readonly<Record<string, number>>;
}

/**
 * Makes the mongod processes on these ports the only members of the replica set `name`. Members reach each other
 * through the ports `announced` (their own, or those of proxies in front of them). If the first member's data have no
 * configuration, it gets one. A configuration with other addresses is replaced by force, because the data may have been
 * moved, or the port changed, since the last start. Rejects if `signal` aborts it.
 */
export async function configureReplicaSet(
  name: string,
  ports: readonly number[],
  announced: readonly number[] = ports,
  signal?: AbortSignal,
): Promise<void> {
  const clients = ports.map(connect);
  const close = () => Promise.all(clients.map((client) => client.close()));
  signal?.addEventListener('abort', close, { once: true });
  try {
    // The initiation asks every member immediately and fails if one does not answer.
    await Promise.all(clients.map((client) => client.db('admin').command({ ping: 1 })));
    const admin = clients[0]?.db('admin');
    if (admin === undefined) throw new Error('A replica set needs a member.');
    await waitUntil(() => configure(admin, name, announced), {
      what: 'A configured replica set',
      timeoutMs: TIMEOUT_MS,
    });
  } finally {
    await close();
  }
}

function connect(port: number): MongoClient {
  return new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: TIMEOUT_MS,
    minHeartbeatFrequencyMS: 50,
  });
}

/** Returns false if mongod was still reading its configuration and must be asked again. */
async function configure(admin: Db, name: string, ports: readonly number[]): Promise<boolean> {
  const current = await findConfig(admin);
  if (current === undefined) return initiate(admin, configFor(name, ports, 1));
  if (!namesPorts(current, ports)) {
    await admin.command({ replSetReconfig: configFor(name, ports, current.version + 1), force: true });
  }
  return true;
}

async function initiate(admin: Db, config: ReplicaSetConfig): Promise<boolean> {
  try {
    await admin.command({ replSetInitiate: config });
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === ALREADY_INITIALIZED) return false;
    throw error;
  }
}

async function findConfig(admin: Db): Promise<ReplicaSetConfig | undefined> {
  try {
    const { config } = await admin.command({ replSetGetConfig: 1 });
    return config;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NOT_YET_INITIALIZED) return undefined;
    throw error;
  }
}

function namesPorts(config: ReplicaSetConfig, ports: readonly number[]): boolean {
  const hosts = config.members.map((member) => member.host);
  return hosts.length === ports.length && ports.every((port) => hosts.includes(`127.0.0.1:${port}`));
}

function configFor(name: string, ports: readonly number[], version: number): ReplicaSetConfig {
  return {
    _id: name,
    version,
    members: ports.map((port, index) => ({ _id: index, host: `127.0.0.1:${port}` })),
    // With these limits, another primary is elected within seconds, even if the former one hangs. Shorter limits would
    // remove a primary that is only busy.
    settings: { electionTimeoutMillis: 2000, heartbeatIntervalMillis: 500, heartbeatTimeoutSecs: 4 },
  };
}
