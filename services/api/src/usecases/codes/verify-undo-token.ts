import { MissingKeyError, type UndoTokens } from '@auth-account/tokens';
import { codeInvalid } from '../proofs/use-proof.ts';

/** The part of the tokens that a check needs. */
export type VerifiableTokens = Pick<UndoTokens, 'verify' | 'unprovenId' | 'rereadKeys'>;

/**
 * Returns the id in a token of a mail that undoes a change. It looks for newer keys before it raises
 * `ERR-CODE-INVALID`, because the worker may have had them first. `isOpen`: true if a change with that id can still be
 * undone. Then the id is known to readers of the mail only, and the key may be on its way, so a token whose key is
 * missing throws {@link MissingKeyError} (503).
 */
export function createVerifyUndoToken(tokens: VerifiableTokens, isOpen: (id: string) => Promise<boolean>) {
  return async (token: string): Promise<string> => {
    const known = tokens.verify(token);
    if (known !== undefined) return known;
    await tokens.rereadKeys();
    const found = tokens.verify(token);
    if (found !== undefined) return found;
    const unproven = tokens.unprovenId(token);
    if (unproven === undefined || !(await isOpen(unproven))) throw codeInvalid();
    throw new MissingKeyError(undefined);
  };
}
