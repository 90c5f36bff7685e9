import type { Metrics } from './create-metrics.ts';
import { createZeroedCounter } from './create-zeroed-counter.ts';

/** Counters of a service's MongoDB transactions. */
export function createTransactionMetrics(registry: Metrics['registry']) {
  return {
    transactions: createZeroedCounter({
      registry,
      name: 'auth_transactions_total',
      help: 'Transactions by outcome: committed, refused (what it found forbids it), failed (MongoDB)',
      values: { outcome: ['committed', 'refused', 'failed'] },
    }),
    transactionRetries: createZeroedCounter({
      registry,
      name: 'auth_transaction_retries_total',
      help: 'Transactions whose work or commit was tried again',
      values: { kind: ['work', 'commit'] },
    }),
  };
}
