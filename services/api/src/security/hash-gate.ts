import { AppError } from '@auth-account/errors';
import { createHashPlaces, type HashPlace, type HashPlaces } from './hash-places.ts';

export interface HashGateOptions {
  /** Hashes at once. */
  readonly slots: number;
  /** How many may wait. */
  readonly queueLimit: number;
  /** Milliseconds within which a request's hash must begin, from when it was received. */
  readonly waitMs: number;
  /** One was refused: there was no place for it, its client held its share already, or its time was over. */
  readonly onShed?: (reason: ShedReason) => void;
  /**
   * Work that had a slot has ended, well or not: the milliseconds that it waited for the slot, and that it took then.
   */
  readonly onDone?: (times: { readonly waitedMs: number; readonly tookMs: number }) => void;
  /** Milliseconds on the clock of `performance.now()`. */
  readonly now?: () => number;
}

export const shedReasons = ['full', 'share', 'late'] as const;
export type ShedReason = (typeof shedReasons)[number];

/** The client that a hash is made for. */
export interface HashClient {
  /** Its network: the clients of one source share what one may hold. */
  readonly source: string;
  /** When its request was received, on the clock of `performance.now()`; now if it is not said. */
  readonly receivedAt?: number | undefined;
}

/** Runs the one hash of a place when a slot is free. Raises `ERR-OVERLOADED` if that comes too late, or never. */
export type RunHash = <T>(work: () => Promise<T>) => Promise<T>;

/** Admits work on password hashes. */
export interface HashGate {
  /**
   * Takes a place for one hash, and gives it back when the hash has been made or `use` has ended. There are as many
   * places as there are slots and room in the queue, and as can be expected to be through in half of the time there is.
   * Raises `ERR-OVERLOADED` at once if there is no place.
   *
   * - While others wait, no source gets more than a quarter of the places, but for those that a slot is free for.
   * - If all are taken, a source that holds fewer takes over the youngest of the one that holds most.
   *
   * So a flood costs those who flood: a source that comes new waits for the hashes that run and one of each other
   * source.
   */
  admit<T>(client: HashClient, use: (run: RunHash) => Promise<T>): Promise<T>;
  /** How many wait now. */
  readonly waiting: number;
  /** How many run now. */
  readonly running: number;
}

const retryAfterSeconds = 2;

/** Weight of the newest hash in the mean duration: the last ten or so count. */
const newestShare = 0.1;

/** The other half is for what nobody foresaw. */
const plannedShare = 0.5;

/** Of all places, what one source may hold while others wait. */
const largestShare = 0.25;

/**
 * The one door to Argon2, the only expensive thing that the service does: more hashes at once than cores gain nothing
 * and cost memory each, and a queue without an end answers those who have long gone. Sources take turns at the slots.
 */
export function createHashGate(options: HashGateOptions): HashGate {
  const { slots, waitMs, onShed, onDone, now = () => performance.now() } = options;
  const places = createHashPlaces();
  let running = 0;
  let hashMs = 0;

  function shed(reason: ShedReason): AppError {
    onShed?.(reason);
    return new AppError('ERR-OVERLOADED', { retryAfterSeconds });
  }

  async function enter(place: HashPlace): Promise<void> {
    if (place.state === 'over') throw shed('share');
    if (place.state !== 'free') throw new Error('a place at the hash gate is for one hash');
    const leftMs = place.receivedAt + waitMs - now();
    if (leftMs <= 0) throw shed('late');
    if (running >= slots) return awaitSlot(places, place, leftMs, () => shed('late'));
    running += 1;
    places.begin(place);
  }

  function leave(): void {
    const next = places.next();
    if (next === undefined) running -= 1;
    else {
      // The slot passes on.
      places.begin(next);
      next.settle?.();
    }
  }

  async function run<T>(place: HashPlace, work: () => Promise<T>): Promise<T> {
    const asked = now();
    await enter(place);
    const start = now();
    try {
      return await work();
    } finally {
      const took = now() - start;
      hashMs = hashMs === 0 ? took : hashMs + (took - hashMs) * newestShare;
      places.giveBack(place);
      leave();
      onDone?.({ waitedMs: start - asked, tookMs: took });
    }
  }

  return {
    async admit({ source, receivedAt = now() }, use) {
      const refusal = makeRoom(places, source, { slots, capacity: capacityOf(options, hashMs) }, () => shed('share'));
      if (refusal !== undefined) throw shed(refusal);
      const place = places.take(source, receivedAt);
      try {
        return await use((work) => run(place, work));
      } finally {
        places.giveBack(place);
      }
    },
    get waiting() {
      return places.waiting();
    },
    get running() {
      return running;
    },
  };
}

/** Waits for a slot, which another hash's end hands over; gives the place back if none comes in time. */
function awaitSlot(places: HashPlaces, place: HashPlace, leftMs: number, lateError: () => Error): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    places.giveBack(place);
    reject(lateError());
  }, leftMs);
  place.settle = (error) => {
    clearTimeout(timer);
    if (error === undefined) resolve();
    else reject(error);
  };
  places.queue(place);
  return promise;
}

/** As many as can expect their hash in time: those that are in may each need one before the last. */
function capacityOf({ slots, queueLimit, waitMs }: HashGateOptions, hashMs: number): number {
  const most = slots + queueLimit;
  const inTime = hashMs === 0 ? most : Math.floor((waitMs * plannedShare * slots) / hashMs) + 1;
  return Math.max(slots, Math.min(most, inTime));
}

/** Makes room for one place more of that source, by taking away another if need be. Returns why there is none. */
function makeRoom(
  places: HashPlaces,
  source: string,
  { slots, capacity }: { readonly slots: number; readonly capacity: number },
  lossOf: () => Error,
): 'full' | 'share' | undefined {
  const own = places.heldBy(source);
  const share = Math.max(1, Math.floor(capacity * largestShare));
  // While there is a slot for each, nobody waits for this one's.
  if (own >= share && places.held() >= slots && places.othersWait(source)) return 'share';
  if (places.held() < capacity) return undefined;
  const displaced = places.youngestOfMoreThan(own + 1);
  if (displaced === undefined) return 'full';
  places.giveBack(displaced);
  displaced.settle?.(lossOf());
  return undefined;
}
