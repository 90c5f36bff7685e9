import type { Static, TObject } from 'typebox';
import type { tokenLifeConfig } from './shared-config.ts';

type TokenLife = Static<TObject<typeof tokenLifeConfig>>;

/**
 * Longest life of an access token that is accepted, in seconds. Revocations are remembered for as long. The signer uses
 * `ACCESS_TOKEN_TTL_SECONDS` alone.
 */
export function longestTokenSeconds(config: TokenLife): number {
  return Math.max(config.ACCESS_TOKEN_TTL_SECONDS, config.ACCESS_TOKEN_MAX_TTL_SECONDS ?? 0);
}
