import { AppError } from '@auth-account/errors';
import type { SessionDocument } from '@auth-account/stores/documents';
import type { RefreshTokens } from '@auth-account/tokens';

export interface AwaitKeyDeps {
  readonly refreshTokens: Pick<RefreshTokens, 'hasKey' | 'rereadKeys'>;
  readonly now: () => Date;
}

/** Within so many milliseconds a new key has reached every api: a mounted secret takes a minute or two. */
const keySpreadMs = 5 * 60_000;

/**
 * To be called before a refresh token is held against a session: without the session's key none is genuine. A key that
 * is missing here for now is no reason to log anyone out, or to leave anyone logged in; one that has been taken away
 * is.
 *
 * Raises `ERR-DEPENDENCY-UNAVAILABLE` if another api has made the session's newest token by a key that has not come
 * here yet.
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
