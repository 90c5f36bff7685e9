import { createWriteStream, type WriteStream } from 'node:fs';
import { devNull } from 'node:os';

/** Outcome of a request, as its app knows it. `unknown` means that there was no final answer. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** The kind of service that an operation's success proves. Gaps in service are measured for each kind. */
export type Sort = 'write' | 'read' | 'stream';

/** One request as its app saw it. */
export interface Operation {
  readonly kind: string;
  readonly sort: Sort;
  readonly person: number | string;
  readonly requestId: string;
  /** The process to which it was sent. */
  readonly via: string;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** Milliseconds from the start of the run to the request, and the request's duration. */
  readonly at: number;
  readonly took: number;
}

type Detail = Readonly<Record<string, unknown>>;

/** A promise that was not kept. */
export interface Violation {
  readonly at: number;
  readonly what: string;
  readonly detail: Detail;
}

export type History = ReturnType<typeof createHistory>;

/**
 * Creates a history that writes each entry to `file` (JSON, one object per line), and keeps what the figures and checks
 * need.
 */
export function createHistory(file: string = devNull) {
  const stream: WriteStream = createWriteStream(file);
  const begun = performance.now();
  const violations: Violation[] = [];
  const counts = new Map<string, Record<Outcome, number>>();
  const totals: Record<Outcome, number> = { acknowledged: 0, refused: 0, unknown: 0 };
  /** Times of the successes, oldest first. */
  const successes: Record<Sort, number[]> = { write: [], read: [], stream: [] };
  const write = (line: object) => stream.write(`${JSON.stringify(line)}\n`);
  const now = () => Math.round(performance.now() - begun);

  return {
    /** Returns the milliseconds since the start of the run. */
    now,
    record(operation: Operation): void {
      write(operation);
      const count = counts.get(operation.kind) ?? { acknowledged: 0, refused: 0, unknown: 0 };
      count[operation.outcome] += 1;
      totals[operation.outcome] += 1;
      counts.set(operation.kind, count);
      if (operation.outcome === 'acknowledged') successes[operation.sort].push(operation.at + operation.took);
    },
    /** Writes an entry that is not a request, such as a fault, its end or a checkpoint. */
    note: (what: string, detail: Detail) => void write({ note: what, at: now(), ...detail }),
    violate(what: string, detail: Detail): void {
      const violation = { at: now(), what, detail };
      violations.push(violation);
      write({ violation });
    },
    violations: violations as readonly Violation[],
    /** Numbers of outcomes by kind of operation. */
    counts: counts as ReadonlyMap<string, Record<Outcome, number>>,
    totals: totals as Readonly<typeof totals>,
    /** Returns the time of the last success of the kind; 0 if there was none. */
    lastSuccess: (sort: Sort) => successes[sort].at(-1) ?? 0,
    /**
     * Returns the longest time without a success of the kind, between the last success before `from` and the first
     * after `to`.
     */
    maxGap(sort: Sort, from: number, to: number): number {
      const all = successes[sort];
      const first = all.findLastIndex((at) => at <= from);
      let last = all[first] ?? from;
      let longest = 0;
      for (const at of all.slice(first + 1)) {
        longest = Math.max(longest, at - last);
        last = at;
        if (at >= to) return longest;
      }
      return Math.max(longest, now() - last);
    },
    close: () => new Promise<void>((resolve) => stream.end(() => resolve())),
  };
}
