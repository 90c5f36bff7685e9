import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import { type ProofFault, proofAgeSeconds, type VerifyDeviceProof } from '../../security/verify-device-proof.ts';
import { extendContext } from '../request-context.ts';

const faults: Readonly<Record<ProofFault, string>> = {
  form: 'Value must be a single proof (typ dpop+jwt, alg ES256, a public jwk of P-256, a jti)',
  htm: 'Value must be a proof with the htm of this request',
  htu: 'Value must be a proof with the htu of this request',
  iat: `Value must be a proof made within ${proofAgeSeconds} s`,
  signature: 'Value must be a proof signed with its jwk',
};

/**
 * Puts the proof of the optional `DPoP` header into the context. Raises `ERR-VALIDATION-FAILED` for a wrong proof,
 * because a login must never open an unbound session in silence. With `isJudged` nothing is raised, and the use case
 * decides.
 */
export function readDeviceProof(verify: VerifyDeviceProof, isJudged: boolean): RequestHandler {
  return (req, res, next) => {
    const header = req.headers.dpop;
    if (header !== undefined) {
      // Node joins two headers with a comma and a space, and no proof contains these.
      const proof = verify(String(header), req);
      if (typeof proof === 'string' && !isJudged) {
        throw new AppError('ERR-VALIDATION-FAILED', {
          details: [{ loc: ['header', 'DPoP'], msg: faults[proof], type: 'value_error' }],
        });
      }
      extendContext(res, { proof });
    }
    next();
  };
}
