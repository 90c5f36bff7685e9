import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { malformedField, missingField } from '../../request/field-errors.ts';
import type { GivenFactor } from './check-factor.ts';

/** The fields of a body that have a second factor. */
export interface FactorFields {
  readonly challenge_id: string;
  readonly code?: string;
  readonly credential?: UsedCredential;
}

/** Forms of the codes, as `codeAsMeant` returns them. A recovery code may have digits that are misread letters. */
const codeForms = { totp: /^\d{6}$/, recovery_code: /^[A-Z0-8]{25}$/, email_code: /^\d{8}$/ } as const;

/**
 * Returns the code of a body. Raises `ERR-VALIDATION-FAILED` if it is missing or cannot be a code of its method, which
 * uses up no try.
 */
export function givenCode(method: keyof typeof codeForms, code: string | undefined): string {
  if (code === undefined) throw missingField('code');
  if (!codeForms[method].test(code)) throw malformedField('code');
  return code;
}

/** Returns the factor of a body. Raises `ERR-VALIDATION-FAILED` if the field that its method needs is missing or wrong. */
export function givenFactor({
  method,
  challenge_id: challengeId,
  code,
  credential,
}: FactorFields & { readonly method: GivenFactor['method'] }): GivenFactor {
  if (method !== 'passkey') return { method, code: givenCode(method, code) };
  if (credential === undefined) throw missingField('credential');
  return { method, challengeId, credential };
}
