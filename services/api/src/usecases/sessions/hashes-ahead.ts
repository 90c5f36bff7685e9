import type { HashesAhead, HashPlace, SessionDocument } from '@auth-account/stores/documents';
import { type RefreshTokenParts, type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';

/**
 * Number of hashes in a block. Each takes 43 bytes of every session. Only one refresh in a block must read the session
 * first.
 */
const blockSize = 8;
/** Length of a SHA-256 in base64url, in characters. */
const hashLength = 43;

/** Returns the position of the generation's hash among the hashes of its block. */
export function placeOfHash(generation: number): HashPlace {
  const block = Math.floor(generation / blockSize);
  return { block, start: (generation - block * blockSize) * hashLength, length: hashLength };
}

/** Returns true if the session's stored block of hashes contains the hash of that token. */
export function hasHashOf({ ahead }: Pick<SessionDocument, 'ahead'>, { kid, generation }: RefreshTokenParts): boolean {
  return ahead?.kid === kid && ahead.block === placeOfHash(generation).block;
}

/**
 * Returns the hashes of the session's tokens for that generation's block. They are kept in the session, so that a
 * refresh can write the next token's hash before it has read the nonce from which the token is made.
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
