import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  createAccessTokenVerifier,
  findTokenFault,
  leewaySeconds,
  type TokenFault,
  type VerifiedAccessToken,
  type VerifyAccessToken,
} from './access-token-verifier.ts';
import type { AccessTokenSettings } from './claims.ts';
import { toKeySource } from './key-source.ts';

export interface VerifierCacheOptions extends Pick<AccessTokenSettings, 'keys' | 'now'> {
  /** Number of tokens that are remembered. The least recently used is dropped. 0 turns the cache off. */
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
 * Remembers the results of `verify`, because a signature costs as much as fifty look-ups. `keys` and `now` must be the
 * verifier's own. The answers are the same as without the cache, because a token is accepted until its expiry, by the
 * clock of the call, and only with the key set with which it was verified. A token with one changed character counts as
 * another token. Refusals are not remembered. Only the SHA-256 of a token is kept, so that the memory has no
 * credentials.
 *
 * Like `verify`, it does not check the deny list. The caller must check it for each use.
 */
export function createVerifierCache(verify: VerifyAccessToken, options: VerifierCacheOptions): VerifyAccessToken {
  const { maxEntries, now = Date.now, onLookup } = options;
  if (maxEntries === 0) return verify;
  const source = toKeySource(options.keys);
  const entries = new LRUCache<string, Entry>({ max: maxEntries });
  let set = source.current();

  /** Returns the present set, and forgets the results that were verified with another set. */
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
    Object.freeze(verified.amr);
    if (currentSet() === before) entries.set(key, { verified, at: now() });
    return verified;
  };
}

export interface CachedVerifierOptions extends AccessTokenSettings, VerifierCacheOptions {
  /** Called for each token, with its first fault if it is refused. */
  readonly onVerdict?: (verdict: 'accepted' | 'expired' | TokenFault) => void;
}

/** Creates an access token verifier with its cache. Both have the same keys and clock. */
export async function createCachedVerifier(settings: CachedVerifierOptions): Promise<VerifyAccessToken> {
  const verify = createVerifierCache(await createAccessTokenVerifier(settings), settings);
  const { onVerdict } = settings;
  if (onVerdict === undefined) return verify;
  return async (token) => {
    try {
      const verified = await verify(token);
      onVerdict('accepted');
      return verified;
    } catch (error) {
      const fault = findTokenFault(error);
      if (fault !== undefined) onVerdict(fault);
      throw error;
    }
  };
}

/**
 * Returns true if the entry may be used. If the clock was set back to before the token's issue, the verifier decides.
 */
function isGood({ verified: { exp }, at }: Entry, nowMs: number): boolean {
  return nowMs >= at && exp > Math.floor(nowMs / 1_000) - leewaySeconds;
}
