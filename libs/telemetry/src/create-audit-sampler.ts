import type { WriteAudit } from './create-logger.ts';

/** An event that any client can cause as often as it likes. */
export interface SampledEvent {
  /** Kind of the event: its name and reason. All kinds are written in the code, so there are few. */
  readonly kind: string;
  /** Network whose events are counted together. If absent, all events of the kind are counted together. */
  readonly network?: string | undefined;
  /** Fields of the log line. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface AuditSampler {
  /** Writes the event, or leaves it out and counts it. */
  write(event: SampledEvent): void;
  /** Ends the window, and writes the lines for the events that were held back. */
  flush(): void;
}

export interface AuditSamplerOptions {
  /** Length of a window. A window begins with an event. */
  readonly windowMs?: number;
  /** Number of lines of one kind and network that are written at once in a window. */
  readonly lines?: number;
  /** Number of networks that are distinguished in a window. All later networks count as one. */
  readonly networks?: number;
}

/** Number of events of one kind and network within the window. */
interface Bucket {
  readonly isShared: boolean;
  written: number;
  held: number;
  /** Newest of the events held back. */
  newest: SampledEvent['fields'] | undefined;
}

/**
 * Creates a sampler. For each kind and network, the first events in a window are written at once, and the others are
 * held back. At the end of the window, one line is written for all that were held back. The line has the fields of the
 * newest of these events, and the number of the others in `suppressed`. A line therefore stands for `1 + suppressed`
 * events, and a log's total is right.
 *
 * If the events of that line came from several networks, its `address` is `various`.
 *
 * A window writes at most `(networks + kinds) × (lines + 1)` lines and remembers one event for each bucket, however
 * many events there are. Its timer does not keep the process alive, so call `flush` before the end. A killed process
 * loses the events that it held back.
 */
export function createAuditSampler(write: WriteAudit, options: AuditSamplerOptions = {}): AuditSampler {
  const { windowMs = 60_000, lines = 10, networks = 100 } = options;
  const buckets = new Map<string, Bucket>();
  let networkBuckets = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const ended = [...buckets.values()];
    buckets.clear();
    networkBuckets = 0;
    for (const bucket of ended) {
      const summary = summaryOf(bucket);
      if (summary) write(summary);
    }
  }

  function findBucket(kind: string, network: string | undefined): Bucket {
    const key = network === undefined ? kind : `${kind} ${network}`;
    const found = buckets.get(key);
    if (found) return found;
    if (network !== undefined && networkBuckets === networks) return findBucket(kind, undefined);
    if (network !== undefined) networkBuckets += 1;
    const bucket = { isShared: network === undefined, written: 0, held: 0, newest: undefined };
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    write({ kind, network, fields }) {
      timer ??= setTimeout(flush, windowMs).unref();
      const bucket = findBucket(kind, network);
      if (bucket.written < lines) {
        bucket.written += 1;
        write(fields);
      } else {
        bucket.held += 1;
        bucket.newest = fields;
      }
    },
    flush,
  };
}

function summaryOf({ newest, held, isShared }: Bucket): SampledEvent['fields'] | undefined {
  if (newest === undefined) return undefined;
  const suppressed = held - 1;
  return {
    ...newest,
    ...(isShared && suppressed > 0 && 'address' in newest && { address: 'various' }),
    ...(suppressed > 0 && { suppressed }),
  };
}
