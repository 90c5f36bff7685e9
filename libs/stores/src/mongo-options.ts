import type { MongoClientOptions } from 'mongodb';

/** How the services talk to MongoDB: a dead primary is noticed within seconds, and no request waits for it for long. */
export function mongoOptions(name: string): MongoClientOptions {
  return {
    // `appName` is left to the connection string.
    driverInfo: { name },
    retryReads: true,
    retryWrites: true,
    writeConcern: { w: 'majority' },
    readPreference: 'primary',
    connectTimeoutMS: 2_000,
    serverSelectionTimeoutMS: 3_000,
    socketTimeoutMS: 8_000,
    heartbeatFrequencyMS: 2_000,
    waitQueueTimeoutMS: 3_000,
    maxPoolSize: 50,
    ignoreUndefined: false,
  };
}
