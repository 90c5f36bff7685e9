import type { RedisClient } from './redis-client.ts';

/** Asks whether Redis takes writes. A server that is full, or cut off from its replicas, still answers reads. */
export interface WriteProbe {
  /** Returns true if a write that was sent within the last second was taken. Never rejects. */
  takesWrites(): Promise<boolean>;
  /** Believes no earlier answer: a write has failed. */
  doubt(): void;
}

/** Milliseconds for which an answer is believed, from when the write was sent. */
const believedMs = 1_000;
/** Milliseconds after which the key goes. */
const keptMs = 60_000;

/** Creates the probe, which writes that key at most once a second, and only if it is asked. */
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
