import { type KeptKeyKind, MissingKeyError } from '@auth-account/tokens';

/** The keys of one key file. A new version of the mounted file reaches every api within a minute or two. */
export interface Keys {
  hasKey(kid: string): boolean;
  rereadKeys(): Promise<void>;
}

/** Milliseconds after which a new key has surely reached every api. */
const keySpreadMs = 5 * 60_000;

/**
 * Creates the function that a use case calls before it checks a token or a code. Neither may be refused because its key
 * has not arrived here yet, but both must be refused if the key was removed. So a token or code that was handed out
 * more than five minutes ago does not wait for its key.
 *
 * Throws {@link MissingKeyError} (503) if the key may still arrive.
 */
export function createAwaitKey(keys: Keys, now: () => Date, kind: KeptKeyKind = 'server') {
  return async ({ kid, handed_out_at }: { readonly kid: string; readonly handed_out_at?: Date }): Promise<void> => {
    if (keys.hasKey(kid)) return;
    await keys.rereadKeys();
    const isNew = handed_out_at === undefined || now().getTime() - handed_out_at.getTime() <= keySpreadMs;
    if (isNew && !keys.hasKey(kid)) throw new MissingKeyError(kid, kind);
  };
}
