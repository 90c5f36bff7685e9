import type { SealedSeed, UserDocument } from '@auth-account/stores/documents';
import type { SealedSecrets } from '@auth-account/tokens';
import { createAwaitKey } from '../../security/await-key.ts';

export interface OpenSeedDeps {
  readonly sealedSecrets: SealedSecrets;
  readonly now: () => Date;
}

/** Returns the seed of a user's authenticator app. */
export type OpenSeed = (user: Pick<UserDocument, '_id'>, sealed: SealedSeed) => Promise<Buffer>;

/**
 * Creates the function that opens sealed seeds. Raises `ERR-DEPENDENCY-UNAVAILABLE` if the server key has not arrived
 * here yet, or was removed before the worker had sealed the seed under a newer key.
 */
export function createOpenSeed({ sealedSecrets, now }: OpenSeedDeps): OpenSeed {
  const awaitKey = createAwaitKey(sealedSecrets, now);
  return async ({ _id: userId }, { factor_id: factorId, kid, seed }) => {
    await awaitKey({ kid });
    return sealedSecrets.open({ kid, box: Buffer.from(seed.value()) }, { userId, factorId });
  };
}
