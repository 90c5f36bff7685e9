import { createHmac } from 'node:crypto';
import { redisKeys } from '@auth-account/redis';

/**
 * Names of limits in Redis. Accounts, devices and addresses appear in them as HMACs only, so that a dump of Redis
 * identifies nobody.
 */
export interface LimitKeys {
  /** Returns the name of a limit: `{prefix}:limit:name`. */
  nameOf(limit: string): string;
  /** Returns the pseudonym of what is limited: 128 bits, the same for as long as the server's key is. */
  tagOf(kind: 'account' | 'address' | 'account-address' | 'account-device', ...parts: readonly string[]): string;
}

const tagLength = 22;

/**
 * Creates the names under a deployment's `KEY_PREFIX`, whose hash tag they share. `secret` returns the server's newest
 * key: every limit starts again after it was rotated.
 */
export function createLimitKeys(prefix: string, secret: () => Buffer): LimitKeys {
  return {
    nameOf: redisKeys(prefix).limit,
    tagOf(kind, ...parts) {
      const mac = createHmac('sha256', secret()).update(JSON.stringify(['limit', kind, ...parts]));
      return mac.digest('base64url').slice(0, tagLength);
    },
  };
}
