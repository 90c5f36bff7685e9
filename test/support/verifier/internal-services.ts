import { createHash } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import type { KeyEntry } from '@auth-account/verifier/access-token';
import { testEnvironment } from '../test-environment.ts';

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

/** Marks the prefix's deny list as complete, as a worker does. */
export async function completeDenyList(keyPrefix: string): Promise<void> {
  const redis = openRedis(
    { REDIS_URL: testEnvironment().redisUrl },
    { ...failFastOptions(), enableOfflineQueue: true },
  );
  redis.on('error', () => undefined);
  const denyList = createDenyList(redis, redisKeys(keyPrefix), denialLifetimeMs(600));
  const isDone = await (await denyList.beginRebuild()).complete();
  redis.disconnect();
  if (!isDone) throw new Error('the deny list was not completed');
}
