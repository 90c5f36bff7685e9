import { AppError } from '@auth-account/errors';
import type { SessionDocument } from '@auth-account/stores/documents';
import type { RefreshTokens } from '@auth-account/tokens';

export interface AwaitKeyDeps {
  readonly refreshTokens: Pick<RefreshTokens, 'hasKey' | 'rereadKeys'>;
  readonly now: () => Date;
}

/** Milliseconds within which a new key has reached every api: a mounted secret takes a minute or two. */
const keySpreadMs = 5 * 60_000;

/**
 * Creates the function that a use case calls before it checks a refresh token against a session: without the session's
 * key no token is genuine. A key that has not arrived here yet is no reason to log a user out, or to leave one logged
 * in. A key that was removed is.
 *
 * Raises `ERR-DEPENDENCY-UNAVAILABLE` if another api has made the session's newest token with a key that has not
 * arrived here yet.
 */
export function createAwaitKey({ refreshTokens, now }: AwaitKeyDeps) {
  return async ({ kid, handed_out_at }: SessionDocument): Promise<void> => {
    if (refreshTokens.hasKey(kid)) return;
    await refreshTokens.rereadKeys();
    const isNew = now().getTime() - handed_out_at.getTime() <= keySpreadMs;
    if (isNew && !refreshTokens.hasKey(kid)) {
      throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 2 });
    }
  };
}
