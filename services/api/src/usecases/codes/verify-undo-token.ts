import type { UndoTokens } from '@auth-account/tokens';
import { codeInvalid } from './check-code.ts';

/**
 * Creates the function that returns the id in a token of a mail that undoes a change. It looks for newer keys before it
 * raises `ERR-CODE-INVALID`, because the worker may have had them first.
 */
export function createVerifyUndoToken(tokens: Pick<UndoTokens, 'verify' | 'rereadKeys'>) {
  return async (token: string): Promise<string> => {
    const known = tokens.verify(token);
    if (known !== undefined) return known;
    await tokens.rereadKeys();
    const found = tokens.verify(token);
    if (found === undefined) throw codeInvalid();
    return found;
  };
}
