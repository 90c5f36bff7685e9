import type { HashesAhead, HashPlace, SessionDocument } from '@auth-account/stores/documents';
import { type RefreshTokenParts, type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';

/** Hashes in a block: each more takes 43 bytes of every session, and saves the read before one refresh in as many. */
const blockSize = 8;
/** Characters of a SHA-256 in base64url. */
const hashLength = 43;

/** Returns the place of the generation's hash among those of its block. */
export function placeOfHash(generation: number): HashPlace {
  const block = Math.floor(generation / blockSize);
  return { block, start: (generation - block * blockSize) * hashLength, length: hashLength };
}

/** Returns true if that token's hash is among those ahead. */
export function hasHashOf({ ahead }: Pick<SessionDocument, 'ahead'>, { kid, generation }: RefreshTokenParts): boolean {
  return ahead?.kid === kid && ahead.block === placeOfHash(generation).block;
}

/**
 * Returns the hashes of the session's tokens for the block in which that generation is. They are kept in the session, so
 * that a refresh can write the next token's hash without having read the nonce that the token is made from.
 */
export function hashesAhead(
  refreshTokens: Pick<RefreshTokens, 'issue'>,
  { kid, sessionId, generation }: RefreshTokenParts,
  nonce: Buffer,
): HashesAhead {
  const { block } = placeOfHash(generation);
  const hashes = Array.from({ length: blockSize }, (_, place) =>
    refreshTokenHash(refreshTokens.issue({ kid, sessionId, generation: block * blockSize + place }, nonce)),
  );
  return { kid, block, hashes: hashes.join('') };
}
