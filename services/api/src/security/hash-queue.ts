/** A hash that runs, or may run later. */
export interface QueuedHash {
  /** The network of the client. */
  readonly source: string;
  /** Time at which the request was received, on the clock of `performance.now()`. */
  readonly receivedAt: number;
  /** `free`: the request has not asked for its hash yet. `over`: it has left the queue. */
  state: 'free' | 'waiting' | 'running' | 'over';
  /** Ends the wait for a slot, with success if there is no error. */
  settle?: (error?: Error) => void;
}

/** The hashes of one source, oldest first. */
interface Held {
  readonly hashes: Set<QueuedHash>;
  /** Number of hashes that do not run. They can be removed without losing work. */
  idle: number;
}

export type HashQueue = ReturnType<typeof createHashQueue>;

/**
 * Records the queued hashes by source, and the source whose turn is next. It does not enforce limits; the gate does.
 */
export function createHashQueue() {
  const bySource = new Map<string, Held>();
  const turns = createTurns();
  let held = 0;
  let idle = 0;

  function countIdle(source: Held | undefined, change: 1 | -1): void {
    idle += change;
    if (source !== undefined) source.idle += change;
  }

  return {
    held: () => held,
    waiting: turns.waiting,
    /** Takes the next hash out of the queue. */
    next: turns.next,
    heldBy: (source: string) => bySource.get(source)?.hashes.size ?? 0,
    /** Returns true if another source has a hash that has not begun. */
    othersWait: (source: string) => idle > (bySource.get(source)?.idle ?? 0),
    /**
     * Returns the newest idle hash of the source that has most. It considers only sources that have more than `count`
     * and an idle one.
     */
    youngestOfMoreThan: (count: number) => youngestOfLargest(bySource.values(), count),
    take(source: string, receivedAt: number): QueuedHash {
      const hash: QueuedHash = { source, receivedAt, state: 'free' };
      const own = bySource.get(source) ?? { hashes: new Set(), idle: 0 };
      bySource.set(source, own);
      own.hashes.add(hash);
      countIdle(own, 1);
      held += 1;
      return hash;
    },
    /** Gives the hash a slot. */
    begin(hash: QueuedHash): void {
      hash.state = 'running';
      countIdle(bySource.get(hash.source), -1);
    },
    enqueue(hash: QueuedHash): void {
      hash.state = 'waiting';
      turns.add(hash);
    },
    /** Removes the hash. Does nothing if it was removed before. */
    giveBack(hash: QueuedHash): void {
      if (hash.state === 'over') return;
      const own = bySource.get(hash.source);
      if (isIdle(hash)) countIdle(own, -1);
      turns.remove(hash);
      hash.state = 'over';
      held -= 1;
      own?.hashes.delete(hash);
      if (own?.hashes.size === 0) bySource.delete(hash.source);
    },
  };
}

/** Queues the hashes that wait for a slot. Sources take turns. Within a source, the first one is served first. */
function createTurns() {
  /** The waiting hashes by source. The source whose turn is next comes first. */
  const turns = new Map<string, Set<QueuedHash>>();
  let waiting = 0;
  return {
    waiting: () => waiting,
    add(hash: QueuedHash): void {
      const queue = turns.get(hash.source) ?? new Set();
      turns.set(hash.source, queue);
      queue.add(hash);
      waiting += 1;
    },
    next(): QueuedHash | undefined {
      const [turn] = turns;
      const [hash] = turn?.[1] ?? [];
      if (turn === undefined || hash === undefined) return undefined;
      const [source, queue] = turn;
      queue.delete(hash);
      turns.delete(source);
      if (queue.size > 0) turns.set(source, queue);
      waiting -= 1;
      return hash;
    },
    /** Does nothing if the hash does not wait. */
    remove(hash: QueuedHash): void {
      const queue = turns.get(hash.source);
      if (queue?.delete(hash)) waiting -= 1;
      if (queue?.size === 0) turns.delete(hash.source);
    },
  };
}

function youngestOfLargest(sources: Iterable<Held>, count: number): QueuedHash | undefined {
  let largest: Held | undefined;
  for (const each of sources) {
    if (each.idle > 0 && each.hashes.size > (largest?.hashes.size ?? count)) largest = each;
  }
  return largest && [...largest.hashes].findLast(isIdle);
}

function isIdle({ state }: QueuedHash): boolean {
  return state === 'free' || state === 'waiting';
}
