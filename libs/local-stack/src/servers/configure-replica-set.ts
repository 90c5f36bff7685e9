import { type Db, MongoClient, MongoServerError } from 'mongodb';

const NOT_YET_INITIALIZED = 94;

interface ReplicaSetConfig {
  readonly _id: string;
  readonly version: number;
  readonly members: readonly { readonly _id: number; readonly host: string }[];
}

/**
 * Makes the mongod processes on these ports the one replica set `name`, whatever the data of the first one says: without a configuration it gets one; a
 * configuration that names other addresses (data that were moved, or another port than last time) is replaced by force.
 */
export async function configureReplicaSet(name: string, ports: readonly number[]): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${ports[0]}/?directConnection=true`, {
    serverSelectionTimeoutMS: 30_000,
    minHeartbeatFrequencyMS: 50,
  });
  try {
    const admin = client.db('admin');
    const current = await findConfig(admin);
    if (current === undefined) {
      await admin.command({ replSetInitiate: configFor(name, ports, 1) });
    } else if (!namesPorts(current, ports)) {
      await admin.command({ replSetReconfig: configFor(name, ports, current.version + 1), force: true });
    }
  } finally {
    await client.close();
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

function configFor(name: string, ports: readonly number[], version: number) {
  return {
    _id: name,
    version,
    members: ports.map((port, index) => ({ _id: index, host: `127.0.0.1:${port}` })),
    settings: { electionTimeoutMillis: 2000, heartbeatIntervalMillis: 500 },
  };
}
