import { AppError } from '@auth-account/errors';

export interface HashGateOptions {
  /** Hashes at once. */
  readonly slots: number;
  /** How many may wait. */
  readonly queueLimit: number;
  /** Milliseconds within which a request's hash must begin, from when it was received. */
  readonly waitMs: number;
  /** One was refused: there was no place for it, or its time was over. */
  readonly onShed?: (reason: 'full' | 'late') => void;
  /** Work that had a slot has ended, well or not: the milliseconds that it waited for the slot, and that it took then. */
  readonly onDone?: (times: { readonly waitedMs: number; readonly tookMs: number }) => void;
  /** Milliseconds on the clock of `performance.now()`. */
  readonly now?: () => number;
}

/** Admits work on password hashes. */
export interface HashGate {
  /**
   * Runs a request that is going to need a hash: as many at once as there are slots and places in the queue, and as can
   * be expected to be through in half of the time there is. Raises `ERR-OVERLOADED` at once where there is no place, so
   * that a flood costs no look at a store either: a thousand of them at once would keep the stores' connections from
   * everybody else.
   */
  admit<T>(request: () => Promise<T>): Promise<T>;
  /**
   * Runs the work when a slot is free. Raises `ERR-OVERLOADED` where the queue is full or the wait too long, counted from
   * when the request was received (on the clock of `performance.now()`; now unless told).
   */
  run<T>(work: () => Promise<T>, receivedAt?: number): Promise<T>;
  /** How many wait now. */
  readonly waiting: number;
  /** How many run now. */
  readonly running: number;
}

interface Waiter {
  readonly admit: () => void;
}

const retryAfterSeconds = 2;

/** What one hash more says about how long hashes take: the last ten or so count. */
const newestShare = 0.1;

/** The other half is for what nobody foresaw. */
const plannedShare = 0.5;

/**
 * The one door to Argon2, the only expensive thing that the service does: more hashes at once than cores gain nothing
 * and cost memory each, and a queue without an end answers those who have long gone.
 */
export function createHashGate(options: HashGateOptions): HashGate {
  const { slots, queueLimit, waitMs, onShed, onDone, now = () => performance.now() } = options;
  const waiters = new Set<Waiter>();
  let running = 0;
  let admitted = 0;
  let hashMs = 0;

  function shed(reason: 'full' | 'late'): AppError {
    onShed?.(reason);
    return new AppError('ERR-OVERLOADED', { retryAfterSeconds });
  }

  function enter(receivedAt: number): Promise<void> {
    const leftMs = receivedAt + waitMs - now();
    if (leftMs <= 0) return Promise.reject(shed('late'));
    if (running < slots) {
      running += 1;
      return Promise.resolve();
    }
    if (waiters.size >= queueLimit) return Promise.reject(shed('full'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters.delete(waiter);
        reject(shed('late'));
      }, leftMs);
      const waiter: Waiter = {
        admit() {
          clearTimeout(timer);
          resolve();
        },
      };
      waiters.add(waiter);
    });
  }

  function leave(): void {
    const [next] = waiters;
    if (next === undefined) {
      running -= 1;
      return;
    }
    // The slot passes to whoever has waited for longest.
    waiters.delete(next);
    next.admit();
  }

  /** Could a request more expect its hash in time? Those that are in already may each need one before it. */
  function hasPlace(): boolean {
    if (admitted < slots) return true;
    return admitted < slots + queueLimit && (admitted * hashMs) / slots <= waitMs * plannedShare;
  }

  return {
    async admit(request) {
      if (!hasPlace()) throw shed('full');
      admitted += 1;
      try {
        return await request();
      } finally {
        admitted -= 1;
      }
    },
    async run(work, receivedAt = now()) {
      const asked = now();
      await enter(receivedAt);
      const start = now();
      try {
        return await work();
      } finally {
        const took = now() - start;
        hashMs = hashMs === 0 ? took : hashMs + (took - hashMs) * newestShare;
        leave();
        onDone?.({ waitedMs: start - asked, tookMs: took });
      }
    },
    get waiting() {
      return waiters.size;
    },
    get running() {
      return running;
    },
  };
}
