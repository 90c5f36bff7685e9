import { AppError } from '@auth-account/errors';
import { createHashQueue, type HashQueue, type QueuedHash } from './hash-queue.ts';

export interface HashGateOptions {
  /** Limit for the hashes that run at once. */
  readonly slots: number;
  /** Limit for the hashes that wait. */
  readonly queueLimit: number;
  /** Limit for the milliseconds between the receipt of a request and the start of its hash. */
  readonly waitMs: number;
  /**
   * Called if a hash was refused because the queue was full, the client's network already held its share, or the time
   * limit was over.
   */
  readonly onShed?: (reason: ShedReason) => void;
  /**
   * Called when work that had a slot has ended, whether it succeeded or not. `times`: milliseconds that the work waited
   * for the slot, and milliseconds that it then took.
   */
  readonly onDone?: (times: { readonly waitedMs: number; readonly tookMs: number }) => void;
  /** Milliseconds on the clock of `performance.now()`. */
  readonly now?: () => number;
}

export const shedReasons = ['full', 'share', 'late'] as const;
export type ShedReason = (typeof shedReasons)[number];

/** The client for which a hash is made. */
export interface HashClient {
  /** The client's network. All clients of one source share the source's part of the queue. */
  readonly source: string;
  /** Time at which its request was received, on the clock of `performance.now()`; the present time by default. */
  readonly receivedAt?: number | undefined;
}

/** Runs the queued hash when a slot is free. Raises `ERR-OVERLOADED` if no slot is free in time. */
export type RunHash = <T>(work: () => Promise<T>) => Promise<T>;

/** Admits work on password hashes. */
export interface HashGate {
  /**
   * Queues one hash, until it was made or `use` has ended. The queue has capacity for each slot and each hash that may
   * wait, but only for as many hashes as should finish in half of the time limit. Raises `ERR-OVERLOADED` at once if it
   * is full.
   *
   * - While others wait, no source gets more than a quarter of the queue, unless there is a slot for every queued hash.
   * - If the queue is full, the hash of a source that has fewer queued displaces the newest of the source that has
   *   most.
   *
   * So a flood slows down the sources that cause it. A new source waits for the hashes that run, and for one hash of
   * each other source.
   */
  admit<T>(client: HashClient, use: (run: RunHash) => Promise<T>): Promise<T>;
  /** Number of hashes that wait now. */
  readonly waiting: number;
  /** Number of hashes that run now. */
  readonly running: number;
}

const retryAfterSeconds = 2;

/** Weight of the newest hash in the mean duration, so that about the last ten hashes count. */
const newestShare = 0.1;

/** Part of the time limit that is planned for hashes. The rest is a reserve. */
const plannedShare = 0.5;

/** Limit for the part of the queue that one source may hold while others wait. */
const largestShare = 0.25;

/**
 * Admits work to Argon2, the only expensive work of the service. More simultaneous hashes than cores would gain
 * nothing, and each hash takes memory. In an unbounded queue, answers would come after their clients have left. Sources
 * take turns at the slots.
 */
export function createHashGate(options: HashGateOptions): HashGate {
  const { slots, waitMs, onShed, onDone, now = () => performance.now() } = options;
  const queue = createHashQueue();
  let running = 0;
  let hashMs = 0;

  function shed(reason: ShedReason): AppError {
    onShed?.(reason);
    return new AppError('ERR-OVERLOADED', { retryAfterSeconds });
  }

  async function enter(hash: QueuedHash): Promise<void> {
    if (hash.state === 'over') throw shed('share');
    if (hash.state !== 'free') throw new Error('a queued hash runs once');
    const leftMs = hash.receivedAt + waitMs - now();
    if (leftMs <= 0) throw shed('late');
    if (running >= slots) return awaitSlot(queue, hash, leftMs, () => shed('late'));
    running += 1;
    queue.begin(hash);
  }

  function leave(): void {
    const next = queue.next();
    if (next === undefined) running -= 1;
    else {
      // Hands the slot to the next hash.
      queue.begin(next);
      next.settle?.();
    }
  }

  async function run<T>(hash: QueuedHash, work: () => Promise<T>): Promise<T> {
    const asked = now();
    await enter(hash);
    const start = now();
    try {
      return await work();
    } finally {
      const took = now() - start;
      hashMs = hashMs === 0 ? took : hashMs + (took - hashMs) * newestShare;
      queue.giveBack(hash);
      leave();
      onDone?.({ waitedMs: start - asked, tookMs: took });
    }
  }

  return {
    async admit({ source, receivedAt = now() }, use) {
      const refusal = claimCapacity(queue, source, { slots, capacity: capacityOf(options, hashMs) }, () =>
        shed('share'),
      );
      if (refusal !== undefined) throw shed(refusal);
      const hash = queue.take(source, receivedAt);
      try {
        return await use((work) => run(hash, work));
      } finally {
        queue.giveBack(hash);
      }
    },
    get waiting() {
      return queue.waiting();
    },
    get running() {
      return running;
    },
  };
}

/** Waits until the end of another hash frees a slot. Removes the hash from the queue if no slot is free in time. */
function awaitSlot(queue: HashQueue, hash: QueuedHash, leftMs: number, lateError: () => Error): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    queue.giveBack(hash);
    reject(lateError());
  }, leftMs);
  hash.settle = (error) => {
    clearTimeout(timer);
    if (error === undefined) resolve();
    else reject(error);
  };
  queue.enqueue(hash);
  return promise;
}

/** Returns the number of queued hashes that are expected to finish in time, even if every one is made. */
function capacityOf({ slots, queueLimit, waitMs }: HashGateOptions, hashMs: number): number {
  const max = slots + queueLimit;
  const inTime = hashMs === 0 ? max : Math.floor((waitMs * plannedShare * slots) / hashMs) + 1;
  return Math.max(slots, Math.min(max, inTime));
}

/**
 * Makes capacity for one more hash of that source, if necessary by removing one of another source. Returns the reason
 * if there is none.
 */
function claimCapacity(
  queue: HashQueue,
  source: string,
  { slots, capacity }: { readonly slots: number; readonly capacity: number },
  lossOf: () => Error,
): 'full' | 'share' | undefined {
  const own = queue.heldBy(source);
  const share = Math.max(1, Math.floor(capacity * largestShare));
  // While there is a slot for every queued hash, nobody waits for this source's slots.
  if (own >= share && queue.held() >= slots && queue.othersWait(source)) return 'share';
  if (queue.held() < capacity) return undefined;
  const displaced = queue.youngestOfMoreThan(own + 1);
  if (displaced === undefined) return 'full';
  queue.giveBack(displaced);
  displaced.settle?.(lossOf());
  return undefined;
}
