import type { KeyEntry, KeySet } from '@auth-account/verifier/access-token';
import { CommandError } from '../../cli/command-error.ts';

/**
 * A key with the times of its rotation in ISO 8601, in members that JWK readers ignore (RFC 7517, section 4). At
 * `published_at` it was added after the first key. At `retired_at` it ceased to be the first key.
 */
export interface RotatingKey extends KeyEntry {
  readonly published_at?: string;
  readonly retired_at?: string;
}

/** `first` signs; `next` will become the first; `retired` was the first. */
export type KeyStatus = 'first' | 'next' | 'retired' | 'unknown';

export function statusOf(key: RotatingKey, index: number): KeyStatus {
  if (index === 0) return 'first';
  if (key.retired_at !== undefined) return 'retired';
  return key.published_at === undefined ? 'unknown' : 'next';
}

/** First step: appends the key, which then only verifies. */
export function publishKey({ keys }: KeySet, key: KeyEntry, now: Date): KeySet {
  const waiting = keys.find((each, index) => statusOf(each, index) === 'next');
  if (waiting) throw new CommandError(`Key ${waiting.kid} is published already and waits for --activate.`);
  const [first, ...others] = keys;
  return { keys: [first, ...others, { ...key, published_at: now.toISOString() }] };
}

/**
 * Second step: moves the published key to the front. Throws a `CommandError` if there is no such key, or if it was
 * published less than `afterMs` ago. Otherwise a verifier could get a token signed with a key that it does not have
 * yet.
 */
export function activateKey({ keys }: KeySet, now: Date, afterMs: number): KeySet {
  const next = keys.find((key: RotatingKey, index) => statusOf(key, index) === 'next') as RotatingKey | undefined;
  if (next?.published_at === undefined) {
    throw new CommandError('No key was published: run rotate without --activate first.');
  }
  const waitMs = Date.parse(next.published_at) + afterMs - now.getTime();
  if (waitMs > 0) {
    const seconds = Math.ceil(waitMs / 1_000);
    throw new CommandError(
      `Key ${next.kid} must first be known to every process: wait ${seconds} s more, or give --now.`,
    );
  }
  const [first, ...others] = keys;
  const rest = others.filter(({ kid }) => kid !== next.kid);
  return { keys: [next, { ...first, retired_at: now.toISOString() }, ...rest] };
}

/** Third step: removes keys that were retired `keepMs` ago or earlier. */
export function pruneKeys({ keys }: KeySet, now: Date, keepMs: number): { set: KeySet; removed: string[] } {
  const isOver = ({ retired_at }: RotatingKey) =>
    retired_at !== undefined && Date.parse(retired_at) + keepMs <= now.getTime();
  const [first, ...others] = keys;
  const removed = others.filter(isOver).map(({ kid }) => kid);
  return { set: { keys: [first, ...others.filter((key) => !isOver(key))] }, removed };
}
