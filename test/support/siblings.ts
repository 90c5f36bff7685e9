import { createHash } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import type { KeyEntry } from '@auth-account/verifier/access-token';
import { testEnvironment } from './test-environment.ts';

/** Siblings that may read revocations; the pantry has two secrets, as in a rotation. */
const kids = ['pantry.1', 'pantry.2', 'recipes'] as const;
export type SiblingKid = (typeof kids)[number];

/** The same in every process of a run; a secret that a test alone knows protects nothing. */
const secretOf = (kid: SiblingKid) => createHash('sha256').update(`secret of ${kid}`).digest('base64url');

/** Returns the path of the file with the secrets, which is written when it is first asked for. */
export function siblingSecretsFile(keysDir: string): string {
  const path = join(keysDir, 'sibling-secrets.json');
  if (existsSync(path)) return path;
  const keys: KeyEntry[] = kids.map((kid) => ({ kty: 'oct', kid, k: secretOf(kid) }));
  const written = `${path}.${process.pid}`;
  writeFileSync(written, JSON.stringify({ keys }));
  // Other processes find a whole file or none.
  renameSync(written, path);
  return path;
}

/** Returns the credential that a sibling shows. */
export const siblingCredential = (kid: SiblingKid = 'pantry.1'): string => `${kid}.${secretOf(kid)}`;

/** Marks the deny list of that prefix as complete, as a worker does. */
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
