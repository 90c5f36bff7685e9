import { createHmac, type KeyObject } from 'node:crypto';
import { redisKeys } from './redis-keys.ts';

/**
 * Names of limits in Redis. Accounts, devices and networks appear in them as HMACs only, so that a dump of Redis
 * identifies nobody.
 */
export interface LimitKeys {
  /** Returns the name of a limit: `{prefix}:limit:name`. */
  nameOf(limit: string): string;
  /** Returns the pseudonym of what is limited: 128 bits, the same for as long as the server's key is. */
  tagOf(kind: 'account' | 'address' | 'account-address' | 'account-device', ...parts: readonly string[]): string;
  /** Sorted set: what an account knows. Tag of a device or network → time of its last success. */
  knownOf(account: string): string;
  /** Delay of the next try, for the tag of an account, device or network. */
  delayOf(tag: string): string;
  /** List of the times of failures, for the same. */
  failuresOf(tag: string): string;
  /** Sorted set: accounts of which strangers' tries of that kind are kept. Tag of an account → time of the newest. */
  crowdOf(kind: 'login' | 'code'): string;
}

const tagLength = 22;

/**
 * Creates the names under a deployment's `KEY_PREFIX`, whose hash tag they share. `secret` returns the server's newest
 * key: every limit starts again after it was rotated.
 */
export function createLimitKeys(prefix: string, secret: () => KeyObject): LimitKeys {
  const nameOf = redisKeys(prefix).limit;
  return {
    nameOf,
    tagOf(kind, ...parts) {
      const mac = createHmac('sha256', secret()).update(JSON.stringify(['limit', kind, ...parts]));
      return mac.digest('base64url').slice(0, tagLength);
    },
    knownOf: (account) => nameOf(`login-known:${account}`),
    delayOf: (tag) => nameOf(`login-delay:${tag}`),
    failuresOf: (tag) => nameOf(`login-failed:${tag}`),
    crowdOf: (kind) => nameOf(`crowd:${kind}`),
  };
}
