import type { Connection } from './connection.ts';

/** Seconds for which a stream outlives its token (docs/push.md, "Close codes"). */
const graceSeconds = 30;
const sweepIntervalMs = 1_000;

export interface ExpirySweep {
  watch(connection: Connection): void;
  forget(connection: Connection): void;
  /** Postpones the stream's end to this time (seconds since the epoch), if this is later. */
  extend(connection: Connection, expiresAt: number): void;
  start(): void;
  stop(): void;
}

export interface ExpirySweepDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onExpired: (connection: Connection) => void;
}

/**
 * Reports, to the second, the streams that have outlived their tokens. One timer serves all streams. Streams that end
 * in the same second share a bucket, so that a sweep touches only the streams that are due.
 */
export function createExpirySweep({ now, onExpired }: ExpirySweepDeps): ExpirySweep {
  const buckets = new Map<number, Set<Connection>>();
  let timer: NodeJS.Timeout | undefined;

  const dueAt = ({ expiresAt }: Connection) => Math.ceil(expiresAt) + graceSeconds;

  function watch(connection: Connection): void {
    const due = dueAt(connection);
    const bucket = buckets.get(due);
    if (bucket === undefined) buckets.set(due, new Set([connection]));
    else bucket.add(connection);
  }

  function forget(connection: Connection): void {
    const due = dueAt(connection);
    const bucket = buckets.get(due);
    if (bucket?.delete(connection) && bucket.size === 0) buckets.delete(due);
  }

  function sweep(): void {
    const second = Math.floor(now() / 1_000);
    for (const [due, bucket] of buckets) {
      if (due <= second) for (const connection of bucket) onExpired(connection);
    }
  }

  return {
    watch,
    forget,
    extend(connection, expiresAt) {
      forget(connection);
      connection.expiresAt = Math.max(connection.expiresAt, expiresAt);
      watch(connection);
    },
    start() {
      timer ??= setInterval(sweep, sweepIntervalMs);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
