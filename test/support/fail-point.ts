import type { MongoClient } from 'mongodb';

/** What `failCommand` does to the commands it meets (MongoDB, server fail points). */
export interface FailCommand {
  readonly failCommands: readonly string[];
  readonly errorCode?: number;
  readonly errorLabels?: readonly string[];
  readonly closeConnection?: boolean;
  readonly writeConcernError?: { readonly code: number; readonly errmsg: string };
  /** `database.collection`. */
  readonly namespace?: string;
  /** Only connections of that name: other tests use the same server. */
  readonly appName: string;
}

export type FailMode = 'alwaysOn' | { readonly times: number } | { readonly skip: number };

/** Runs `work` while the server fails those commands; MongoDB has to run with `enableTestCommands`. */
export async function withFailPoint<T>(
  mongo: MongoClient,
  mode: FailMode,
  data: FailCommand,
  work: () => Promise<T>,
): Promise<T> {
  const admin = mongo.db('admin');
  await admin.command({ configureFailPoint: 'failCommand', mode, data });
  try {
    return await work();
  } finally {
    await admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
  }
}
