import { createHmac } from 'node:crypto';
import { redisKeys } from '@auth-account/redis';

/** Names of limits in Redis. Accounts, devices and addresses stand in them as HMACs: a dump of Redis names nobody. */
export interface LimitKeys {
  /** The name of a limit: `{prefix}:limit:name`. */
  nameOf(limit: string): string;
  /** The pseudonym of what is limited: 128 bits, always the same while the server's key is. */
  tagOf(kind: 'account' | 'address' | 'account-address' | 'account-device', ...parts: readonly string[]): string;
}

const tagLength = 22;

/**
 * The names under a deployment's `KEY_PREFIX`, whose hash tag they share. `secret` is the server's newest key: after it
 * was rotated every limit begins anew.
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
