import { runAndRepeat } from '@auth-account/lifecycle/repeat';
import type { RedisClient } from '@auth-account/redis';
import { MissingKeyError, type SealedTokens } from '@auth-account/tokens';
import type { KeySource } from '@auth-account/verifier/access-token';

export interface HeldKeysDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  /** Name in Redis of the sorted set: id of a key → latest time at which an api held it. */
  readonly name: string;
  /** The keys of this process. */
  readonly keys: Pick<KeySource, 'current'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Ids of the server keys that any api holds. */
export interface HeldKeys {
  /** Shows the other apis which keys this one holds, now and until `stop` is aborted. Never rejects. */
  follow(stop: AbortSignal): Promise<void>;
  /** Returns true if some api has held the key lately, and while Redis does not answer. Never rejects. */
  isHeld(kid: string): Promise<boolean>;
}

const intervalMs = 60_000;
/** Longer than the life of any sealed token. */
const heldMs = 10 * intervalMs;

/** Lists the held keys. */
export function createHeldKeys({ redis, name, keys, now }: HeldKeysDeps): HeldKeys {
  async function announce(): Promise<void> {
    const held = keys.current().keys.flatMap(({ kid }) => [now(), kid]);
    const write = redis
      .multi()
      .zadd(name, ...held)
      .zremrangebyscore(name, '-inf', now() - heldMs);
    // Without Redis, `isHeld` of the other apis says true.
    await write.exec().catch(() => undefined);
  }

  return {
    follow: (stop) => runAndRepeat(announce, intervalMs, stop),
    async isHeld(kid) {
      try {
        return Number((await redis.zscore(name, kid)) ?? 0) > now() - heldMs;
      } catch {
        return true;
      }
    },
  };
}

/**
 * Distinguishes a token under a key that has not arrived here from one that nobody can have made: only the former is an
 * outage. The client has written the id of the key into the token, and a made-up one must not look like a fault of the
 * service.
 */
export function withHeldKeys(tokens: SealedTokens, { isHeld }: Pick<HeldKeys, 'isHeld'>): SealedTokens {
  return {
    ...tokens,
    open: (label, token) =>
      tokens.open(label, token).catch(async (error: unknown) => {
        if (error instanceof MissingKeyError && error.kid !== undefined && !(await isHeld(error.kid))) return;
        throw error;
      }),
  };
}
