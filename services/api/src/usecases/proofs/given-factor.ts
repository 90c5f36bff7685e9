import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { missingField } from '../../request/missing-field.ts';
import type { GivenFactor } from './check-factor.ts';

/** The fields of a body that have a second factor. */
export interface FactorFields {
  readonly challenge_id: string;
  readonly code?: string;
  readonly credential?: UsedCredential;
}

/** Returns the factor of a body. Raises `ERR-VALIDATION-FAILED` if the field that its method needs is missing. */
export function givenFactor({
  method,
  challenge_id: challengeId,
  code,
  credential,
}: FactorFields & { readonly method: GivenFactor['method'] }): GivenFactor {
  if (method !== 'passkey') {
    if (code === undefined) throw missingField('code');
    return { method, code };
  }
  if (credential === undefined) throw missingField('credential');
  return { method, challengeId, credential };
}
