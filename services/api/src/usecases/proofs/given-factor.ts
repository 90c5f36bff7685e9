import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { malformedField } from '../../request/field-errors.ts';
import type { GivenFactor } from './check-factor.ts';

/** The fields of a body that have a second factor. */
export type FactorFields =
  | { readonly method: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly method: 'passkey'; readonly challenge_id: string; readonly credential: UsedCredential };

/** Forms of the codes, as `codeAsMeant` returns them. A recovery code may have digits that are misread letters. */
const codeForms = { totp: /^\d{6}$/, recovery_code: /^[A-Z0-8]{25}$/, email_code: /^\d{8}$/ } as const;

/**
 * Returns the code of a body. Raises `ERR-VALIDATION-FAILED` if it cannot be a code of its method, which uses up no try.
 */
export function givenCode(method: keyof typeof codeForms, code: string): string {
  if (!codeForms[method].test(code)) throw malformedField('code');
  return code;
}

/** Returns the factor of a body. Raises `ERR-VALIDATION-FAILED` if its code cannot be one. */
export function givenFactor(given: FactorFields): GivenFactor {
  if (given.method !== 'passkey') return { method: given.method, code: givenCode(given.method, given.code) };
  return { method: given.method, challengeId: given.challenge_id, credential: given.credential };
}
