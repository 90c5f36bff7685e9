import type { Static, TObject } from 'typebox';
import type { tokenLifeConfig } from './shared-config.ts';

type TokenLife = Static<TObject<typeof tokenLifeConfig>>;

/**
 * The longest life of an access token that is accepted, in seconds; as long as that a revocation has to be remembered.
 * The signer goes by `ACCESS_TOKEN_TTL_SECONDS` alone.
 */
export function longestTokenSeconds(config: TokenLife): number {
  return Math.max(config.ACCESS_TOKEN_TTL_SECONDS, config.ACCESS_TOKEN_MAX_TTL_SECONDS ?? 0);
}
