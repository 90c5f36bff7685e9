import { type Collections, createStores, createTransactionRunner, type Stores } from '@auth-account/stores';

/**
 * Returns the stores of these collections. Their transactions use the collections' client, and no metric counts them.
 */
export function storesOf(collections: Collections, now = () => new Date()): Stores {
  return createStores(collections, createTransactionRunner(collections.outbox.db.client), now);
}
