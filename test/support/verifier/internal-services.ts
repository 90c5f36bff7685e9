import { createHash } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyEntry } from '@auth-account/verifier/access-token';

/** Internal services that may read revocations. The pantry has two secrets, as in a rotation. */
const kids = ['pantry.1', 'pantry.2', 'recipes'] as const;
export type InternalServiceKid = (typeof kids)[number];

/** Every process of a run derives the same secret. It may be guessable, because it protects nothing but tests. */
const secretOf = (kid: InternalServiceKid) => createHash('sha256').update(`secret of ${kid}`).digest('base64url');

/** Returns the path of the file with the secrets, and writes the file if it is missing. */
export function internalServiceSecretsFile(keysDir: string): string {
  const path = join(keysDir, 'internal-service-secrets.json');
  if (existsSync(path)) return path;
  const keys: KeyEntry[] = kids.map((kid) => ({ kty: 'oct', kid, k: secretOf(kid) }));
  const written = `${path}.${process.pid}`;
  writeFileSync(written, JSON.stringify({ keys }));
  // Other processes find a whole file or none.
  renameSync(written, path);
  return path;
}

/** Returns the credential that an internal service presents. */
export const internalServiceCredential = (kid: InternalServiceKid = 'pantry.1'): string => `${kid}.${secretOf(kid)}`;
