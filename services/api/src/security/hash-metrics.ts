import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { Gauge, Histogram } from 'prom-client';
import { shedReasons } from './hash-gate.ts';

/** Present load of the hash gate. */
export interface HashLoad {
  readonly waiting: number;
  readonly running: number;
}

const durationBuckets = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5];
const waitBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5];

export type HashMetrics = ReturnType<typeof createHashMetrics>;

/** Creates the metrics of password hashes and of their gate. */
export function createHashMetrics(registry: Metrics['registry']) {
  const registers = [registry];
  const loads: (() => HashLoad)[] = [];
  const readLoad = (part: keyof HashLoad) => loads.reduce((sum, load) => sum + load()[part], 0);
  new Gauge({
    name: 'auth_password_hashes_waiting',
    help: 'Password hashes that wait for a slot',
    registers,
    collect() {
      this.set(readLoad('waiting'));
    },
  });
  new Gauge({
    name: 'auth_password_hashes_running',
    help: 'Password hashes that are being made or verified',
    registers,
    collect() {
      this.set(readLoad('running'));
    },
  });
  return {
    /** Registers the gauges of the load; `load` is read at each scrape. */
    observeHashLoad(load: () => HashLoad) {
      loads.push(load);
    },
    hashSlots: new Gauge({
      name: 'auth_password_hash_slots',
      help: 'Password hashes that may run at once',
      registers,
    }),
    hashDuration: new Histogram({
      name: 'auth_password_hash_duration_seconds',
      help: 'Duration of a password hash or its verification, without the wait for a slot',
      buckets: durationBuckets,
      registers,
    }),
    hashWait: new Histogram({
      name: 'auth_password_hash_wait_seconds',
      help: 'Wait for a slot, of the hashes that got one',
      buckets: waitBuckets,
      registers,
    }),
    hashesShed: createZeroedCounter({
      registry,
      name: 'auth_password_hashes_shed_total',
      help: 'Password hashes refused because the queue was full, their network already held its share, or the wait was too long',
      values: { reason: shedReasons },
    }),
  };
}
