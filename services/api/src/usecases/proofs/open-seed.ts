import type { ConfirmedTotp, SealedSeed, UserDocument } from '@auth-account/stores/documents';
import type { SealedSecrets } from '@auth-account/tokens';
import { createAwaitKey } from '../../security/await-key.ts';
import { recoveryKeyOf } from '../../security/recovery-codes.ts';

export interface OpenSeedDeps {
  readonly sealedSecrets: SealedSecrets;
  readonly now: () => Date;
}

/** Returns the seed of a user's authenticator app. */
export type OpenSeed = (user: Pick<UserDocument, '_id'>, sealed: SealedSeed) => Promise<Buffer>;

/**
 * Creates the function that opens sealed seeds. Throws `MissingKeyError` (503) if the server key has not arrived here
 * yet, or was removed before the worker had sealed the seed under a newer key.
 */
export function createOpenSeed({ sealedSecrets, now }: OpenSeedDeps): OpenSeed {
  const awaitKey = createAwaitKey(sealedSecrets, now);
  return async ({ _id: userId }, { factor_id: factorId, kid, seed }) => {
    await awaitKey({ kid });
    return sealedSecrets.open({ kid, box: Buffer.from(seed.value()) }, { userId, factorId });
  };
}

/** Returns the key of the user's recovery codes. The seed is opened only if an earlier release has stored no key. */
export async function findRecoveryKey(
  openSeed: OpenSeed,
  user: Pick<UserDocument, '_id'>,
  totp: ConfirmedTotp,
): Promise<Uint8Array> {
  return totp.recovery_key?.value() ?? recoveryKeyOf(await openSeed(user, totp));
}
