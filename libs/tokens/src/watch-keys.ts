import { type KeyFileWatch, type WatchKeyFileOptions, watchKeyFile } from './watch-key-file.ts';

/** The part of a logger that key files are reported to. */
export interface KeyFileLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface WatchKeysOptions extends Pick<WatchKeyFileOptions, 'check'> {
  readonly logger: KeyFileLog;
  /** Milliseconds between two reads of the file; the default if undefined. */
  readonly intervalMs?: number | undefined;
}

/** Watches a key file as {@link watchKeyFile} does, and logs the ids of the keys in use, and each fault. */
export function watchKeys(file: string, { check, logger, intervalMs }: WatchKeysOptions): Promise<KeyFileWatch> {
  return watchKeyFile(file, {
    ...(check === undefined ? {} : { check }),
    ...(intervalMs === undefined ? {} : { intervalMs }),
    onChange: ({ keys }) => logger.info({ file, kids: keys.map(({ kid }) => kid) }, 'key file taken'),
    onError: (error) => logger.error({ err: error, file }, 'key file not taken: the former keys stay'),
  });
}
