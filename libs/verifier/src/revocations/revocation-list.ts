import { AppError } from '@auth-account/errors';
import type { RevocationSource } from './revocation-source.ts';

export interface RevocationListOptions {
  readonly source: RevocationSource;
  /** Time in which the copy is used after the source has stopped answering, in seconds. */
  readonly graceSeconds: number;
  /**
   * Returns for how many seconds a denial must be kept: the maximum life of a token plus the tolerated difference of
   * clocks.
   */
  readonly keepSeconds: () => number;
  readonly pollMs: number;
  /** Called when the source stops answering, with the reason, and when it answers again. */
  readonly onChange?: ((isAnswering: boolean, error?: Error) => void) | undefined;
  /** Returns milliseconds that only go forward. */
  readonly elapsed?: (() => number) | undefined;
}

/** A copy of the denials, in memory. */
export interface RevocationList {
  /** Resolves after the first attempt to read the source. */
  readonly started: Promise<void>;
  /**
   * Returns true if a token of this session and version is denied. Throws `ERR-DEPENDENCY-UNAVAILABLE` if the copy is
   * older than the grace period allows, because the answer is then unknown.
   */
  isDenied(sessionId: string, ver: number): boolean;
  /** Returns the seconds since the copy was complete, or undefined if it never was. */
  ageSeconds(): number | undefined;
  size(): number;
  close(): void;
}

/** Time in which a copy counts as up to date, in milliseconds. It is enough for two intervals and an answer. */
const presentMs = 1_000;

/** Longest pause after failures, in intervals. The pause grows to spare an overloaded source. */
const maxPause = 8;

/** Creates the copy and keeps it up to date until `close`. */
export function createRevocationList(options: RevocationListOptions): RevocationList {
  const { source, graceSeconds, keepSeconds, pollMs, onChange, elapsed = () => performance.now() } = options;
  const copy = createCopy(keepSeconds, elapsed);
  let cursor: unknown;
  let completeAt: number | undefined;
  let isAnswering = true;
  let failures = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function report(answers: boolean, error?: Error): void {
    if (answers !== isAnswering) onChange?.(answers, error);
    isAnswering = answers;
  }

  async function readAll(): Promise<void> {
    while (!isClosed) {
      const asked = elapsed();
      const page = await source.read(cursor);
      for (const { sessionId, below } of page.denied) copy.add(sessionId, below);
      cursor = page.cursor;
      if (!page.hasMore) {
        completeAt = asked;
        return;
      }
    }
  }

  async function poll(): Promise<void> {
    try {
      await readAll();
      failures = 0;
      report(true);
    } catch (error) {
      failures += 1;
      if (!isClosed) report(false, error as Error);
    }
    copy.forgetOld();
    const pauseMs = pollMs * Math.min(2 ** failures, maxPause);
    if (!isClosed) timer = setTimeout(poll, pauseMs).unref();
  }

  return {
    started: poll(),
    isDenied(sessionId, ver) {
      if (completeAt === undefined || elapsed() - completeAt > presentMs + graceSeconds * 1_000) {
        throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', {
          cause: new Error('it is not known which tokens are revoked'),
        });
      }
      return ver < copy.below(sessionId);
    },
    ageSeconds: () => (completeAt === undefined ? undefined : (elapsed() - completeAt) / 1_000),
    size: copy.size,
    close() {
      isClosed = true;
      clearTimeout(timer);
      source.close();
    },
  };
}

/**
 * Creates the copy, which keeps denials in two generations. When the younger generation is `keepSeconds` old, the older
 * one is dropped as a whole. A denial is kept for at least that time and at most twice as long, without a timer of its
 * own.
 */
function createCopy(keepSeconds: () => number, elapsed: () => number) {
  let young = new Map<string, number>();
  let old = new Map<string, number>();
  let since = elapsed();
  const below = (sessionId: string) => Math.max(young.get(sessionId) ?? 0, old.get(sessionId) ?? 0);
  return {
    below,
    add(sessionId: string, ver: number) {
      young.set(sessionId, Math.max(ver, below(sessionId)));
    },
    forgetOld() {
      if (elapsed() - since < keepSeconds() * 1_000) return;
      old = young;
      young = new Map();
      since = elapsed();
    },
    size: () => young.size + old.size,
  };
}
