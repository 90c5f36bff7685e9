import { AppError } from '@auth-account/errors';

export interface HashGateOptions {
  /** Hashes at once. */
  readonly slots: number;
  /** How many may wait. */
  readonly queueLimit: number;
  /** Milliseconds for which one waits at most. */
  readonly waitMs: number;
  /** One was refused: the queue was full, or its time was over. */
  readonly onShed?: (reason: 'full' | 'late') => void;
}

/** Admits work on password hashes. */
export interface HashGate {
  /**
   * Runs a request that is going to need a hash: as many at once as there are slots and places in the queue. Raises
   * `ERR-OVERLOADED` at once where there is no place, so that a flood costs no look at a store either: a thousand of
   * them at once would keep the stores' connections from everybody else.
   */
  admit<T>(request: () => Promise<T>): Promise<T>;
  /** Runs the work when a slot is free. Raises `ERR-OVERLOADED` where the queue is full or the wait too long. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many wait now. */
  readonly waiting: number;
}

interface Waiter {
  readonly admit: () => void;
}

const retryAfterSeconds = 2;

/**
 * The one door to Argon2, the only expensive thing that the service does: more hashes at once than cores gain nothing
 * and cost memory each, and a queue without an end answers those who have long gone.
 */
export function createHashGate({ slots, queueLimit, waitMs, onShed }: HashGateOptions): HashGate {
  const waiters = new Set<Waiter>();
  let running = 0;
  let admitted = 0;

  function shed(reason: 'full' | 'late'): AppError {
    onShed?.(reason);
    return new AppError('ERR-OVERLOADED', { retryAfterSeconds });
  }

  function enter(): Promise<void> {
    if (running < slots) {
      running += 1;
      return Promise.resolve();
    }
    if (waiters.size >= queueLimit) return Promise.reject(shed('full'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters.delete(waiter);
        reject(shed('late'));
      }, waitMs);
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

  return {
    async admit(request) {
      if (admitted >= slots + queueLimit) throw shed('full');
      admitted += 1;
      try {
        return await request();
      } finally {
        admitted -= 1;
      }
    },
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    get waiting() {
      return waiters.size;
    },
  };
}
