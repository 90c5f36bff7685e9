import { MongoClient, MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import { waitUntil } from './wait-until.ts';

/**
 * Waits until one of the ports is a primary that takes writes. `assertRunning` is asked in between, so that a dead
 * mongod is told at once.
 */
export async function waitForPrimary(
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
  // A client whose first connection failed cannot be used again, so each question has its own.
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 250,
    minHeartbeatFrequencyMS: 50,
  });
  try {
    const hello = await client.db('admin').command({ hello: 1 });
    return hello.isWritablePrimary === true;
  } catch (error) {
    // A member that does not listen yet, or is down in a fault test, is no primary; every other error is one.
    if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) return false;
    throw error;
  } finally {
    await client.close();
  }
}
