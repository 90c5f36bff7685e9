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
  readonly places: Set<QueuedHash>;
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
    heldBy: (source: string) => bySource.get(source)?.places.size ?? 0,
    /** Returns true if another source has a hash that has not begun. */
    othersWait: (source: string) => idle > (bySource.get(source)?.idle ?? 0),
    /**
     * Returns the newest idle hash of the source that has most. It considers only sources that have more than `count`
     * and an idle one.
     */
    youngestOfMoreThan: (count: number) => youngestOfLargest(bySource.values(), count),
    take(source: string, receivedAt: number): QueuedHash {
      const place: QueuedHash = { source, receivedAt, state: 'free' };
      const own = bySource.get(source) ?? { places: new Set(), idle: 0 };
      bySource.set(source, own);
      own.places.add(place);
      countIdle(own, 1);
      held += 1;
      return place;
    },
    /** Gives the hash a slot. */
    begin(place: QueuedHash): void {
      place.state = 'running';
      countIdle(bySource.get(place.source), -1);
    },
    queue(place: QueuedHash): void {
      place.state = 'waiting';
      turns.add(place);
    },
    /** Removes the hash. Does nothing if it was removed before. */
    giveBack(place: QueuedHash): void {
      if (place.state === 'over') return;
      const own = bySource.get(place.source);
      if (isIdle(place)) countIdle(own, -1);
      turns.remove(place);
      place.state = 'over';
      held -= 1;
      own?.places.delete(place);
      if (own?.places.size === 0) bySource.delete(place.source);
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
    add(place: QueuedHash): void {
      const queue = turns.get(place.source) ?? new Set();
      turns.set(place.source, queue);
      queue.add(place);
      waiting += 1;
    },
    next(): QueuedHash | undefined {
      const [turn] = turns;
      const [place] = turn?.[1] ?? [];
      if (turn === undefined || place === undefined) return undefined;
      const [source, queue] = turn;
      queue.delete(place);
      turns.delete(source);
      if (queue.size > 0) turns.set(source, queue);
      waiting -= 1;
      return place;
    },
    /** Does nothing if the hash does not wait. */
    remove(place: QueuedHash): void {
      const queue = turns.get(place.source);
      if (queue?.delete(place)) waiting -= 1;
      if (queue?.size === 0) turns.delete(place.source);
    },
  };
}

function youngestOfLargest(sources: Iterable<Held>, count: number): QueuedHash | undefined {
  let largest: Held | undefined;
  for (const each of sources) {
    if (each.idle > 0 && each.places.size > (largest?.places.size ?? count)) largest = each;
  }
  return largest && [...largest.places].findLast(isIdle);
}

function isIdle({ state }: QueuedHash): boolean {
  return state === 'free' || state === 'waiting';
}
