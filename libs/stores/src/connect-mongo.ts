import { channel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import type { MongoClient, MongoClientOptions } from 'mongodb';
// @ts-expect-error: the driver has no types for its inner modules.
import connect from 'mongodb/lib/cmap/connect.js';
// @ts-expect-error
import connection from 'mongodb/lib/cmap/connection.js';
// @ts-expect-error
import sessions from 'mongodb/lib/sessions.js';

/** The modules that an instrumentation patches, for libs/telemetry/src/tracing/instrument-loaded.ts. */
const modules = {
  'mongodb/lib/cmap/connect.js': connect,
  'mongodb/lib/cmap/connection.js': connection,
  'mongodb/lib/sessions.js': sessions,
};
channel('auth-account:loaded').publish(modules);

const pauseMs = 500;

/**
 * Connects the client, and retries until it succeeds or `stop` is aborted. Must be called before the client is first
 * used, because the driver (7.8) connects by itself only once. If MongoDB was unreachable at that moment, every later
 * operation fails with "Topology is closed".
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

/** Defaults that a connection string may override. All but the pool size are in milliseconds. */
const replaceable = {
  connectTimeoutMS: 2_000,
  serverSelectionTimeoutMS: 3_000,
  socketTimeoutMS: 8_000,
  heartbeatFrequencyMS: 2_000,
  waitQueueTimeoutMS: 3_000,
  maxPoolSize: 50,
} satisfies MongoClientOptions;

/**
 * Options of the services' MongoDB client. With these options, a dead or frozen primary is noticed within seconds, and
 * no request waits long for it. Time-outs in the connection string take precedence.
 */
export function mongoOptions(name: string, uri: string): MongoClientOptions {
  const named = new Set([...new URLSearchParams(uri.split('?')[1]).keys()].map((option) => option.toLowerCase()));
  const rest = Object.entries(replaceable).filter(([option]) => !named.has(option.toLowerCase()));
  return {
    // Only the connection string sets `appName`.
    driverInfo: { name },
    retryReads: true,
    retryWrites: true,
    writeConcern: { w: 'majority' },
    readPreference: 'primary',
    ignoreUndefined: false,
    ...Object.fromEntries(rest),
  };
}
