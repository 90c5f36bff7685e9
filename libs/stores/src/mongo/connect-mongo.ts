import { setTimeout as delay } from 'node:timers/promises';
import { beginCommand, endFailedCommand, isTraced } from '@auth-account/telemetry/command-spans';
import { type MongoClient, type MongoClientOptions, MongoServerError } from 'mongodb';

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
  if (isTraced()) traceCommands(client);
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
    // A connection string may ask for it too.
    ...(isTraced() && { monitorCommands: true }),
    ...Object.fromEntries(rest),
  };
}

/** Has each command that the client sends be a span, by the driver's command monitoring (`monitorCommands`). */
function traceCommands(client: MongoClient): void {
  const spans = new Map<number, ReturnType<typeof beginCommand>>();
  const take = (id: number) => {
    const span = spans.get(id);
    spans.delete(id);
    return span;
  };
  client.on('commandStarted', ({ requestId, commandName: name, databaseName: database, command, address }) => {
    const target = command[name === 'getMore' ? 'collection' : name];
    const collection = typeof target === 'string' ? target : undefined;
    const span = beginCommand({ system: 'mongodb', name, address, database, collection });
    if (span) spans.set(requestId, span);
  });
  client.on('commandSucceeded', ({ requestId }) => take(requestId)?.end());
  client.on('commandFailed', ({ requestId, failure }) => {
    const code = failure instanceof MongoServerError ? String(failure.code) : undefined;
    endFailedCommand(take(requestId), failure, code);
  });
}
