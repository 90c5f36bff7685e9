import { MongoClient } from 'mongodb';

/** No test lasts as long, in seconds. */
const longEnough = 3_600;

/**
 * Keeps the member of a replica set that listens on this port from taking what the primary writes, until the function that
 * it returns is called. The member goes on voting and answering, but does not stand for election, so that the primary
 * stays: where these members are so many that the others are no majority, the majority lags. MongoDB has to run with
 * `enableTestCommands`.
 */
export async function stopReplication(port: number): Promise<() => Promise<void>> {
  await order(port, { replSetFreeze: longEnough }, { configureFailPoint: 'stopReplProducer', mode: 'alwaysOn' });
  return () => order(port, { configureFailPoint: 'stopReplProducer', mode: 'off' }, { replSetFreeze: 0 });
}

/**
 * Has the members of this replica set wait so long for each other before they look for another primary that none does because the
 * machine stood still: for tests in which the primary is to stay.
 */
export async function keepPrimary(uri: string): Promise<void> {
  const client = new MongoClient(uri);
  try {
    const admin = client.db('admin');
    const { config } = await admin.command({ replSetGetConfig: 1 });
    const settings = { ...config.settings, electionTimeoutMillis: 120_000, heartbeatTimeoutSecs: 120 };
    await admin.command({ replSetReconfig: { ...config, version: config.version + 1, settings } });
  } finally {
    await client.close();
  }
}

async function order(port: number, ...commands: readonly object[]): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
  try {
    for (const command of commands) await client.db('admin').command(command);
  } finally {
    await client.close();
  }
}
