import { MongoClient } from 'mongodb';

/** Longer than any test, in seconds. */
const longEnough = 3_600;

/**
 * Keeps the replica set member on this port from applying the primary's writes, until the returned function is called.
 * The member still votes and answers, but does not stand for election, so that the primary stays. If the other members
 * are no majority, the majority lags. MongoDB must run with `enableTestCommands`.
 */
export async function stopReplication(port: number): Promise<() => Promise<void>> {
  await order(port, { replSetFreeze: longEnough }, { configureFailPoint: 'stopReplProducer', mode: 'alwaysOn' });
  return () => order(port, { configureFailPoint: 'stopReplProducer', mode: 'off' }, { replSetFreeze: 0 });
}

/**
 * Sets the election time-out of this replica set so high that no stall of the machine causes an election, for tests
 * whose primary must stay.
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
