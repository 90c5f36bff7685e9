import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { repeat } from '@auth-account/lifecycle/repeat';
import { type KeySet, type KeySource, parseKeySet } from '@auth-account/verifier/access-token';

export interface WatchKeyFileOptions {
  /** Throws or rejects if the keys are not of the required kind. Such a set is never used. */
  readonly check?: (set: KeySet) => unknown;
  /** Called after a new set has come into use. */
  readonly onChange?: (set: KeySet) => void;
  /** Called once for each invalid content of the file, and once if it can't be read. */
  readonly onError: (error: unknown) => void;
  /** Called after each look, and first for the keys of the start, with whether the content is refused. */
  readonly onLook?: (isRefused: boolean) => void;
  /** Milliseconds between two reads of the file. */
  readonly intervalMs?: number;
  /** Minimum time between two reads that callers ask for, in milliseconds. */
  readonly rereadGapMs?: number;
}

export interface KeyFileWatch extends KeySource {
  /** Stops watching. */
  close(): void;
}

/**
 * Reads a key file, and reads it again whenever it has changed. If the file can't be read, is not a key set or does not
 * pass `check`, the fault is reported and the former keys stay in use. The first read throws the fault instead. The
 * error names the file in both cases.
 *
 * The file is read at an interval, and its content is compared. `fs.watch` would not notice how Kubernetes replaces
 * mounted secrets, by swapping a symbolic link above them. Comparing modification times is not enough, because a copied
 * file may keep its old time.
 *
 * @example
 * const keys = await watchKeyFile(path, { onError: (err) => logger.error({ err }, 'key file not taken') });
 * const refreshTokens = createRefreshTokens(keys);
 */
export async function watchKeyFile(path: string, options: WatchKeyFileOptions): Promise<KeyFileWatch> {
  const { check, onChange, onError, onLook, intervalMs = 10_000, rereadGapMs = 1_000 } = options;
  const first = await readFile(path, 'utf8');
  let current = await parse(first, path, check);
  let taken = digest(first);
  /** Digest of the last content, so that a fault is reported once. */
  let seen = taken;
  let reading: Promise<void> | undefined;
  let lastAsked = Number.NEGATIVE_INFINITY;
  const closed = new AbortController();
  onLook?.(false);

  async function look(): Promise<void> {
    let mark = 'unreadable';
    try {
      const text = await readFile(path, 'utf8');
      mark = digest(text);
      if (mark === seen || mark === taken) return;
      const next = await parse(text, path, check);
      if (closed.signal.aborted) return;
      current = next;
      taken = mark;
      onChange?.(next);
    } catch (error) {
      if (mark !== seen) onError(error);
    } finally {
      seen = mark;
      onLook?.(mark !== taken);
    }
  }

  /** Makes only one read at a time, because older content must not replace newer content. */
  function lookOnce(): Promise<void> {
    reading ??= look().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  repeat(lookOnce, intervalMs, closed.signal);
  return {
    current: () => current,
    async reread() {
      const at = performance.now();
      if (closed.signal.aborted || at - lastAsked < rereadGapMs) return reading;
      lastAsked = at;
      // A read that is under way may have begun before the file changed.
      await reading;
      await lookOnce();
    },
    close: () => closed.abort(),
  };
}

/** The part of a logger to which key files are reported. */
interface KeyFileLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

interface WatchKeysOptions extends Pick<WatchKeyFileOptions, 'check'> {
  readonly logger: KeyFileLog;
  /** Called with the file's name after each look. */
  readonly setRefused?: ((file: string, isRefused: boolean) => void) | undefined;
  /** Milliseconds between two reads of the file. Undefined means the default. */
  readonly intervalMs?: number | undefined;
}

/** Watches a key file with {@link watchKeyFile}, and logs the ids of the keys in use and each fault. */
export function watchKeys(file: string, { check, logger, setRefused, intervalMs }: WatchKeysOptions) {
  return watchKeyFile(file, {
    onLook: (isRefused) => setRefused?.(basename(file), isRefused),
    ...(check === undefined ? {} : { check }),
    ...(intervalMs === undefined ? {} : { intervalMs }),
    onChange: ({ keys }) => logger.info({ file, kids: keys.map(({ kid }) => kid) }, 'key file taken'),
    onError: (error) => logger.error({ err: error, file }, 'key file not taken: the former keys stay'),
  });
}

async function parse(text: string, path: string, check: WatchKeyFileOptions['check']): Promise<KeySet> {
  const set = parseKeySet(text, path);
  try {
    await check?.(set);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
  return set;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the ids of the keys: of the first, which signs, and of all, which count. */
export function reportKeys(source: Pick<KeySource, 'current'>): { signs: string; takes: string[] } {
  const { keys } = source.current();
  return { signs: keys[0].kid, takes: keys.map(({ kid }) => kid) };
}
