import { totalmem } from 'node:os';
import { MongoClient } from 'mongodb';

/** MongoDB's cache, in MiB: it has room for the data of a million users, if the machine has that much. */
export const roomyCacheMib = Math.floor(Math.min(4_096, totalmem() / 2 ** 20 / 2));

/** Changes the cache's size while MongoDB runs: the servers of the tests begin with 256 MiB. */
export async function setMongoCache(uri: string, mib: number): Promise<void> {
  const mongo = new MongoClient(uri);
  try {
    await mongo.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${mib}M` });
  } finally {
    await mongo.close();
  }
}
