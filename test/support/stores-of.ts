import { type Collections, createStores, createTransactionRunner, type Stores } from '@auth-account/stores';

/** Returns the stores of these collections, with transactions of their client that nobody counts. */
export function storesOf(collections: Collections): Stores {
  return createStores(collections, createTransactionRunner(collections.outbox.db.client));
}
