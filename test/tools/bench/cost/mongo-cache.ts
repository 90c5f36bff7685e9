import { totalmem } from 'node:os';
import { MongoClient } from 'mongodb';

const halfOfMemoryMib = Math.floor(totalmem() / 2 ** 20 / 2);

/** MongoDB's cache, in MiB: it has room for the data of a million users, if the machine has that much. */
export const roomyCacheMib = Math.min(4_096, halfOfMemoryMib);

/** MongoDB's cache while a store is filled: with indexes beyond it, each insert would read pages and evict others. */
export const fillingCacheMib = halfOfMemoryMib;

/** Changes the cache's size while MongoDB runs: the servers of the tests begin with 256 MiB. */
export async function setMongoCache(uri: string, mib: number): Promise<void> {
  const mongo = new MongoClient(uri);
  try {
    await mongo.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${mib}M` });
  } finally {
    await mongo.close();
  }
}
