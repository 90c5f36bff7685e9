import { waitUntil } from '@auth-account/local-stack';
import { type MongoClient, MongoServerError } from 'mongodb';

/** Effect of `failCommand` on the commands that it matches (MongoDB, server fail points). */
export interface FailCommand {
  readonly failCommands: readonly string[];
  readonly errorCode?: number;
  readonly errorLabels?: readonly string[];
  readonly closeConnection?: boolean;
  /** Holds the command back for `blockTimeMS` milliseconds. */
  readonly blockConnection?: boolean;
  readonly blockTimeMS?: number;
  readonly writeConcernError?: { readonly code: number; readonly errmsg: string };
  /** `database.collection`. */
  readonly namespace?: string;
  /** Name of the only connections whose commands fail, because other tests use the same server. */
  readonly appName: string;
}

export type FailMode = 'alwaysOn' | { readonly times: number } | { readonly skip: number };

/**
 * Runs `work` while the fail point is set. `entered` resolves when a command has met it. MongoDB must run with
 * `enableTestCommands`.
 */
export async function withFailPoint<T>(
  mongo: MongoClient,
  mode: FailMode,
  data: FailCommand,
  work: (entered: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const admin = mongo.db('admin');
  const release = await takeFailPoint(mongo);
  try {
    const { count } = await admin.command({ configureFailPoint: 'failCommand', mode, data });
    return await work(async () => {
      const timesEntered = Number(count) + 1;
      await admin.command({ waitForFailPoint: 'failCommand', timesEntered, maxTimeMS: 60_000 });
    });
  } finally {
    await admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
    await release();
  }
}

/** Takes the lock of the fail point: a server has only one `failCommand`, and test files run concurrently. */
async function takeFailPoint(mongo: MongoClient): Promise<() => Promise<void>> {
  const locks = mongo.db('test-locks').collection<{ _id: string }>('locks');
  const take = async (): Promise<boolean> => {
    try {
      await locks.insertOne({ _id: 'failCommand' });
      return true;
    } catch (error) {
      const duplicateKey = 11_000;
      if (error instanceof MongoServerError && error.code === duplicateKey) return false;
      throw error;
    }
  };
  await waitUntil(take, { what: 'the fail point', timeoutMs: 60_000, intervalMs: 20 });
  return async () => {
    await locks.deleteOne({ _id: 'failCommand' });
  };
}
