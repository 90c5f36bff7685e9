import { totalmem } from 'node:os';
import { type Document, MongoClient } from 'mongodb';

/** Runs a command of an administrator. */
export async function adminCommand(uri: string, command: Document): Promise<Document> {
  const mongo = new MongoClient(uri);
  try {
    return await mongo.db('admin').command(command);
  } finally {
    await mongo.close();
  }
}

const halfOfMemoryMib = Math.floor(totalmem() / 2 ** 20 / 2);

/** Size of MongoDB's cache in MiB. It can hold the data of a million users, if the machine has enough memory. */
export const roomyCacheMib = Math.min(4_096, halfOfMemoryMib);

/**
 * Size of MongoDB's cache in MiB while a store is filled. If the indexes exceeded it, each insert would read and evict
 * pages.
 */
export const fillingCacheMib = halfOfMemoryMib;

/** Changes the cache's size while MongoDB runs. The test servers start with 256 MiB. */
export async function setMongoCache(uri: string, mib: number): Promise<void> {
  await adminCommand(uri, { setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${mib}M` });
}
