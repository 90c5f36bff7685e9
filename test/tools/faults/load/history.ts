import { createWriteStream, type WriteStream } from 'node:fs';

/** What an app knows of a request: done, refused for good, or that there was no answer it could go by. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** Which gap an operation's success ends. */
export type Sort = 'write' | 'read' | 'stream';

/** One request as its app saw it. */
export interface Operation {
  readonly kind: string;
  readonly sort: Sort;
  readonly person: number;
  readonly requestId: string;
  /** Through which process. */
  readonly via: string;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** Milliseconds since the run began, and how long it took. */
  readonly at: number;
  readonly took: number;
}

/** Something that was promised and not kept. */
export interface Violation {
  readonly at: number;
  readonly what: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface History {
  /** Milliseconds since the run began. */
  now(): number;
  record(operation: Operation): void;
  /** Notes what is no request: a fault, its end, a checkpoint. */
  note(what: string, detail: Readonly<Record<string, unknown>>): void;
  violate(what: string, detail: Readonly<Record<string, unknown>>): void;
  readonly violations: readonly Violation[];
  /** Kind of operation → outcomes. */
  readonly counts: ReadonlyMap<string, Record<Outcome, number>>;
  /** When something of the sort last succeeded; 0 where nothing has. */
  lastSuccess(sort: Sort): number;
  /** The longest time without a success of the sort, from the last success before `from` to the first one after `to`. */
  longestGap(sort: Sort, from: number, to: number): number;
  close(): Promise<void>;
}

/** Writes every line to `file` (JSON, one object a line), and keeps what the figures and checks need. */
export function createHistory(file: string): History {
  const stream: WriteStream = createWriteStream(file);
  const begun = performance.now();
  const violations: Violation[] = [];
  const counts = new Map<string, Record<Outcome, number>>();
  /** When each success was, oldest first. */
  const successes: Record<Sort, number[]> = { write: [], read: [], stream: [] };
  const write = (line: object) => stream.write(`${JSON.stringify(line)}\n`);
  const now = () => Math.round(performance.now() - begun);

  return {
    now,
    record(operation) {
      write(operation);
      const count = counts.get(operation.kind) ?? { acknowledged: 0, refused: 0, unknown: 0 };
      count[operation.outcome] += 1;
      counts.set(operation.kind, count);
      if (operation.outcome === 'acknowledged') successes[operation.sort].push(operation.at + operation.took);
    },
    note: (what, detail) => write({ note: what, at: now(), ...detail }),
    violate(what, detail) {
      const violation = { at: now(), what, detail };
      violations.push(violation);
      write({ violation });
    },
    violations,
    counts,
    lastSuccess: (sort) => successes[sort].at(-1) ?? 0,
    longestGap(sort, from, to) {
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
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  };
}
