import { AppError } from '@auth-account/errors';

/** Keys of a kind. A mounted file of keys reaches every api within a minute or two. */
export interface Keys {
  hasKey(kid: string): boolean;
  rereadKeys(): Promise<void>;
}

/** Milliseconds within which a new key has reached every api. */
const keySpreadMs = 5 * 60_000;

/**
 * Creates the function that a use case calls before it checks a token or a code: without its key none is genuine. A key
 * that has not arrived here yet is no reason to refuse a right one. A key that was removed is: nothing that was handed
 * out more than five minutes ago waits for a key.
 *
 * Raises `ERR-DEPENDENCY-UNAVAILABLE` if another api has used a key that has not arrived here yet.
 */
export function createAwaitKey(keys: Keys, now: () => Date) {
  return async ({ kid, handed_out_at }: { readonly kid: string; readonly handed_out_at?: Date }): Promise<void> => {
    if (keys.hasKey(kid)) return;
    await keys.rereadKeys();
    const isNew = handed_out_at === undefined || now().getTime() - handed_out_at.getTime() <= keySpreadMs;
    if (isNew && !keys.hasKey(kid)) throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 2 });
  };
}
