import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  createAccessTokenVerifier,
  leewaySeconds,
  type VerifiedAccessToken,
  type VerifyAccessToken,
} from './access-token-verifier.ts';
import type { AccessTokenSettings } from './claims.ts';
import { toKeySource } from './key-source.ts';

export interface VerifierCacheOptions extends Pick<AccessTokenSettings, 'keys' | 'now'> {
  /** Number of tokens that are remembered; the least recently used is dropped. 0: none. */
  readonly maxEntries: number;
  /** Called for each token that is verified. */
  readonly onLookup?: (result: 'hit' | 'miss') => void;
}

interface Entry {
  readonly verified: VerifiedAccessToken;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Remembers what `verify` has verified: a signature costs fifty times a look-up. `keys` and `now` must be the
 * verifier's own. The result is that of `verify` alone: a token is good until its expiry, by the clock of the call, and
 * only with the very key set with which it was verified; one changed character makes another token. Refusals are not
 * remembered. Tokens are kept as their SHA-256, so that the memory holds no credential.
 *
 * Like `verify` it does not check the deny list: check that for each use.
 */
export function createVerifierCache(verify: VerifyAccessToken, options: VerifierCacheOptions): VerifyAccessToken {
  const { maxEntries, now = Date.now, onLookup } = options;
  if (maxEntries === 0) return verify;
  const source = toKeySource(options.keys);
  const entries = new LRUCache<string, Entry>({ max: maxEntries });
  let set = source.current();

  /** The present set. Results that were verified with another set are forgotten. */
  function currentSet() {
    const current = source.current();
    if (current !== set) entries.clear();
    set = current;
    return set;
  }

  return async (token) => {
    const before = currentSet();
    const key = hash('sha256', token, 'base64url');
    const entry = entries.get(key);
    if (entry !== undefined && isGood(entry, now())) {
      onLookup?.('hit');
      return entry.verified;
    }
    onLookup?.('miss');
    entries.delete(key);
    const verified = Object.freeze(await verify(token));
    if (currentSet() === before) entries.set(key, { verified, at: now() });
    return verified;
  };
}

/** Creates an access token verifier with its cache; both have the same keys and clock. */
export async function createCachedVerifier(
  settings: AccessTokenSettings & VerifierCacheOptions,
): Promise<VerifyAccessToken> {
  return createVerifierCache(await createAccessTokenVerifier(settings), settings);
}

/** After a clock was set back, it may be before the token's issue: then the verifier decides. */
function isGood({ verified: { exp }, at }: Entry, nowMs: number): boolean {
  return nowMs >= at && exp > Math.floor(nowMs / 1_000) - leewaySeconds;
}
