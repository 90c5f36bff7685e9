import { createPublicKey } from 'node:crypto';
import type { AuthEvent } from '@auth-account/contracts/events';
import { CompactEncrypt } from 'jose';
import type { EncryptionKey } from '../config.ts';
import { isMailed, type ReadMail } from './read-mail.ts';

/**
 * Returns the secret of an event for the holder of a key: a JWE (RFC 7516, compact) of a JSON object with `email`, and
 * `code`, `undo_token` or `stop_token`. Undefined if the event has no secret, or no longer has one.
 */
export type SealSecret = (event: AuthEvent) => Promise<string | undefined>;

/** Algorithm for a key of that `kty`, if the key names none itself. */
const algorithms: Readonly<Record<EncryptionKey['kty'], string>> = {
  EC: 'ECDH-ES',
  OKP: 'ECDH-ES',
  RSA: 'RSA-OAEP-256',
};

/** Encrypts to the key. Nobody but the key's holder can read the result, not even this service. */
export function createSealSecret(readMail: ReadMail, jwk: EncryptionKey): SealSecret {
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
  const header = {
    alg: jwk.alg ?? algorithms[jwk.kty],
    enc: 'A256GCM',
    cty: 'application/json',
    ...(jwk.kid === undefined ? {} : { kid: jwk.kid }),
  };
  return async (event) => {
    const letter = isMailed(event) ? await readMail(event) : undefined;
    if (letter === undefined) return;
    const { code, undo_token, stop_token } = letter.values;
    const secret = JSON.stringify({ email: letter.to, code, undo_token, stop_token });
    return new CompactEncrypt(new TextEncoder().encode(secret)).setProtectedHeader(header).encrypt(key);
  };
}
