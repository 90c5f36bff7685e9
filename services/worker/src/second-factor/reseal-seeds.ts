import type { SecondFactorStore, StoredSeed } from '@auth-account/stores/second-factors';
import type { SealedSecrets } from '@auth-account/tokens';
import { Binary } from 'mongodb';

export interface ResealSeedsDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'listStale' | 'reseal' | 'removeLapsed'>;
  readonly sealedSecrets: SealedSecrets;
  /** Called with the number of seeds that were sealed again. */
  readonly onResealed: (count: number) => void;
  readonly onFailed: (userId: string, error: unknown) => void;
  readonly now: () => Date;
}

/** Limit for the seeds that are read at once. */
const batch = 100;

/**
 * Creates the function that runs one round, which seals every seed under the newest server key. Without it, the removal
 * of an old key would take the second factor of its accounts. It also removes authenticator apps that were never
 * confirmed. Every step can be repeated, so workers need no lease.
 *
 * A seed whose key is gone stays as it is, because the key may come back. During a rotation, a worker that still has the
 * older file leaves the seeds that another has sealed under the next key.
 */
export function createResealSeeds(deps: ResealSeedsDeps): () => Promise<void> {
  const { secondFactors, sealedSecrets, onResealed, onFailed, now } = deps;

  async function reseal({ userId, sealed }: StoredSeed): Promise<boolean> {
    const owner = { userId, factorId: sealed.factor_id };
    try {
      const seed = sealedSecrets.open({ kid: sealed.kid, box: Buffer.from(sealed.seed.value()) }, owner);
      const { kid, box } = sealedSecrets.seal(seed, owner);
      await secondFactors.reseal({ userId, sealed }, { kid, seed: new Binary(box) });
      return true;
    } catch (error) {
      onFailed(userId, error);
      return false;
    }
  }

  return async () => {
    await secondFactors.removeLapsed(now());
    let [resealed, failed] = [0, 0];
    for (;;) {
      const stale = await secondFactors.listStale(sealedSecrets.freshKids, { skip: failed, limit: batch });
      for (const each of stale) {
        if (await reseal(each)) resealed += 1;
        else failed += 1;
      }
      if (stale.length < batch) break;
    }
    if (resealed > 0) onResealed(resealed);
  };
}
