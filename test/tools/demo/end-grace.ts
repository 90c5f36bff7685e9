import type { UserDocument } from '@auth-account/stores/documents';
import { MongoClient } from 'mongodb';

const { LOCAL_MONGO_PORT = '27117', MONGODB_DATABASE = 'auth' } = process.env;

/** The connection string of the stack's MongoDB. */
export const { MONGODB_URI: mongodbUri = `mongodb://127.0.0.1:${LOCAL_MONGO_PORT}/?replicaSet=rs0` } = process.env;

/** Ends the grace of an account whose deletion is ordered, as if its days had passed. Throws if there is no such account. */
export async function endGrace(userId: string): Promise<void> {
  const mongo = new MongoClient(mongodbUri);
  try {
    const users = mongo.db(MONGODB_DATABASE).collection<UserDocument>('users');
    // This is long enough ago for the worker, which waits a while (`ERASURE_DELAY_SECONDS`).
    const deletes_at = new Date(Date.now() - 3_600_000);
    const due = await users.updateOne({ _id: userId, deletes_at: { $exists: true } }, { $set: { deletes_at } });
    if (due.modifiedCount === 0) throw new Error('no account is to be deleted');
  } finally {
    await mongo.close();
  }
}
