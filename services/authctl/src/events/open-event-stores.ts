import {
  createDeadLetterStore,
  createOutboxStore,
  createReplay,
  createSubscriberStore,
  type DeadLetterStore,
  type OutboxStore,
  type Replay,
  type RunTransaction,
  runTransaction,
  type SubscriberStore,
} from '@auth-account/stores';
import type { Mongo } from '../compose.ts';

/** What the commands about events use; all of it is in MongoDB, so they work while Redis is away. */
export interface EventStores {
  readonly outbox: OutboxStore;
  readonly deadLetters: DeadLetterStore;
  readonly subscribers: SubscriberStore;
  readonly replay: Replay;
}

export function openEventStores({ client, collections }: Mongo): EventStores {
  const transaction: RunTransaction = (work, options) => runTransaction(client, work, options);
  return {
    outbox: createOutboxStore(collections),
    deadLetters: createDeadLetterStore(collections, transaction),
    subscribers: createSubscriberStore(collections),
    replay: createReplay(collections, transaction),
  };
}
