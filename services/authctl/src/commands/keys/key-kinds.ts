import { maxTokenSeconds } from '@auth-account/config';
import { emailUndoSeconds } from '@auth-account/contracts/http/email-change';
import {
  assertAccessTokenKeys,
  assertRefreshTokenKeys,
  generateSecretKey,
  generateSigningKey,
} from '@auth-account/tokens';
import type { AccessTokenAlgorithm, KeyEntry, KeySet } from '@auth-account/verifier/access-token';
import type { KeyConfig } from '../../config.ts';

export const keyKinds = ['access', 'refresh', 'server'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** Differences between kinds of key files. */
interface KindTraits {
  readonly variable: 'ACCESS_TOKEN_KEYS_FILE' | 'REFRESH_TOKEN_KEYS_FILE' | 'SERVER_KEYS_FILE';
  generate(algorithm: AccessTokenAlgorithm): KeyEntry | Promise<KeyEntry>;
  /** Throws if the services would refuse the set. */
  check(set: KeySet): void;
  /** Number of seconds for which a key's tokens or answers stay valid after the key was replaced. */
  usefulSeconds(config: KeyConfig): number;
}

/** Margin, in s, for the tokens that a pod signs with the old key until it has read the new file. */
const marginSeconds = 600;

export const kindTraits: Readonly<Record<KeyKind, KindTraits>> = {
  access: {
    variable: 'ACCESS_TOKEN_KEYS_FILE',
    generate: generateSigningKey,
    check: (set) => assertAccessTokenKeys(set, 'sign'),
    usefulSeconds: (config) => maxTokenSeconds(config) + marginSeconds,
  },
  refresh: {
    variable: 'REFRESH_TOKEN_KEYS_FILE',
    generate: generateSecretKey,
    check: assertRefreshTokenKeys,
    usefulSeconds: ({ REFRESH_TOKEN_ABSOLUTE_SECONDS }) => REFRESH_TOKEN_ABSOLUTE_SECONDS + marginSeconds,
  },
  server: {
    variable: 'SERVER_KEYS_FILE',
    generate: generateSecretKey,
    check: assertRefreshTokenKeys,
    // The longest of these times counts. A change of the email address can be undone for 72 h, and answers are kept for
    // a day.
    usefulSeconds: () => emailUndoSeconds + marginSeconds,
  },
};
