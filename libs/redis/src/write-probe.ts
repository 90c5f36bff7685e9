import type { RedisClient } from './redis-client.ts';

/** Checks whether Redis accepts writes. A server that is full, or cut off from its replicas, still answers reads. */
export interface WriteProbe {
  /** Returns true if Redis accepted a write that was sent within the last second. Never rejects. */
  takesWrites(): Promise<boolean>;
  /** Discards the last answer, because a write has failed. */
  doubt(): void;
}

/** Milliseconds for which an answer is believed, counted from the sending of the write. */
const believedMs = 1_000;
/** Milliseconds after which the key expires. */
const keptMs = 60_000;

/** Writes `key` at most once a second, and only when it is asked. */
export function createWriteProbe(redis: RedisClient, key: string): WriteProbe {
  let answer = Promise.resolve(false);
  let askedAt = Number.NEGATIVE_INFINITY;
  return {
    takesWrites() {
      if (performance.now() - askedAt >= believedMs) {
        askedAt = performance.now();
        answer = redis.set(key, '', 'PX', keptMs).then(
          () => true,
          () => false,
        );
      }
      return answer;
    },
    doubt() {
      askedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
