import { setTimeout as delay } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';

const pauseMs = 500;

/**
 * Connects the client, again and again until that succeeds or `stop` is aborted. To be called before the client is first
 * used: the driver (7.8) connects by itself only once, and where MongoDB was away just then, every later operation fails
 * with "Topology is closed", for ever.
 */
export async function connectMongo(
  client: MongoClient,
  stop: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!stop.aborted) {
    try {
      await client.connect();
      return;
    } catch (error) {
      if (!stop.aborted) onError(error);
    }
    await delay(pauseMs);
  }
}
