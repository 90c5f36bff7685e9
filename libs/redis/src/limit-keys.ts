import { createHmac, type KeyObject } from 'node:crypto';
import { redisKeys } from './redis-keys.ts';

/**
 * Names of limits in Redis. Accounts, devices and networks appear in the names only as HMACs, so that a dump of Redis
 * identifies nobody.
 */
export interface LimitKeys {
  /** Returns the name of a limit: `{prefix}:limit:name`. */
  nameOf(limit: string): string;
  /**
   * Returns the pseudonym of a limited account, device or network. It has 128 bits, and changes only with the server's
   * key.
   */
  tagOf(kind: 'account' | 'address' | 'account-address' | 'account-holder', ...parts: readonly string[]): string;
  /**
   * Sorted set of the devices and networks that an account knows. Tag of the device or network → time of its last
   * success.
   */
  knownOf(account: string): string;
  /** Returns the key of the delay before the next try, for the tag of an account, device or network. */
  delayOf(tag: string): string;
  /** Returns the key of the list with the times of failures, for the same tags. */
  failuresOf(tag: string): string;
  /**
   * Sorted set of the devices and networks whose user has shown the account's password: tag → time of the newest right
   * password.
   */
  provenOf(account: string): string;
  /**
   * Hash of an account's wrong verdicts on one secret, from everywhere: tag of a device or network that was known by
   * the secret → those from there, `all` → those of everybody else, `since` → time of the recovery from which they
   * count.
   */
  wrongOf(secret: 'password' | 'factor', account: string): string;
  /** Returns the key of the list with the times at which second factors were tried, for the same tags. */
  factorTriesOf(tag: string): string;
  /**
   * Sorted set like `knownOf`, of the devices and networks on which the account has logged in with two factors. A proof
   * of the mailbox or of the password alone adds nothing.
   */
  factorKnownOf(account: string): string;
  /**
   * Returns the key of the list with the times at which codes were requested: by a device, a network, all devices and
   * networks that the account knows, all others, or for a recipient.
   */
  codesOf(kind: 'device' | 'network' | 'known' | 'strange' | 'recipient', tag: string): string;
  /**
   * Sorted set of the accounts for which tries of that kind from unknown devices and networks, or all wrong passwords,
   * are stored. Tag of an account → time of the newest try.
   */
  accountLruOf(kind: 'login' | 'code' | 'password'): string;
}

/**
 * Returns the name of what is counted from the account's latest recovery on. A recovery gives the account another name,
 * so that its counts begin anew, in every process and without Redis.
 */
export function sinceRecovery(name: string, recoveredAt: Date | undefined): string {
  return recoveredAt === undefined ? name : `${name} ${recoveredAt.getTime()}`;
}

const tagLength = 22;

/**
 * Names the keys under a deployment's `KEY_PREFIX`, whose hash tag they share. `secret` returns the server's newest
 * key. After a rotation of that key every limit starts again.
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
    factorKnownOf: (account) => nameOf(`second-factor-known:${account}`),
    provenOf: (account) => nameOf(`login-proven:${account}`),
    wrongOf: (secret, account) => nameOf(`wrong-${secret}:${account}`),
    factorTriesOf: (tag) => nameOf(`second-factor:${tag}`),
    codesOf: (kind, tag) => nameOf(`code-${kind}:${tag}`),
    accountLruOf: (kind) => nameOf(`crowd:${kind}`),
  };
}
