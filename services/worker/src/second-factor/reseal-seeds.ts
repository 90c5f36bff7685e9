import type { IdentityStore } from '@auth-account/stores/identities';
import type { ProviderRevocationStore, StoredToken } from '@auth-account/stores/provider-revocations';
import type { SecondFactorStore, StoredSeed } from '@auth-account/stores/second-factors';
import type { SealedSecrets } from '@auth-account/tokens';
import { Binary } from 'mongodb';

export interface ResealSeedsDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'listStale' | 'reseal' | 'removeLapsed'>;
  readonly identities: TokenStore;
  readonly providerRevocations: TokenStore;
  readonly sealedSecrets: SealedSecrets;
  /** Called with the number of seeds and tokens that were sealed again. */
  readonly onResealed: (count: number) => void;
  readonly onFailed: (userId: string, error: unknown) => void;
  readonly now: () => Date;
}

type TokenStore = Pick<IdentityStore & ProviderRevocationStore, 'listStale' | 'reseal'>;

/** A secret as it is stored. */
interface Stored {
  readonly userId: string;
  /** The factor or identity to which the seal is bound. */
  readonly factorId: string;
  readonly kid: string;
  readonly box: Binary;
  /** Replaces the sealed form. */
  readonly replace: (by: { readonly kid: string; readonly box: Binary }) => Promise<void>;
}

type ListStale = (kids: readonly string[]) => AsyncIterable<Stored>;

/**
 * Runs one round, which seals every seed and every token of a provider under the newest key. Without it, the removal of
 * an old key would take the second factor of its accounts, and tokens could not be revoked. It also removes
 * authenticator apps that were never confirmed. Every step can be repeated, so workers need no lease.
 *
 * A secret whose key is gone stays as it is, because the key may come back. During a rotation, a worker that still has
 * the older file leaves the secrets that another has sealed under the next key.
 */
export function createResealSeeds(deps: ResealSeedsDeps): () => Promise<void> {
  const { secondFactors, identities, providerRevocations, onResealed, now } = deps;
  const resealAll = createResealAll(deps);

  return async () => {
    await secondFactors.removeLapsed(now());
    let resealed = 0;
    for (const list of [seedsOf(secondFactors), tokensOf(identities), tokensOf(providerRevocations)]) {
      resealed += await resealAll(list);
    }
    if (resealed > 0) onResealed(resealed);
  };
}

/** Seals all secrets of a store, and returns their number. */
function createResealAll({ sealedSecrets, onFailed }: ResealSeedsDeps) {
  async function reseal({ userId, factorId, kid: from, box: stored, replace }: Stored): Promise<boolean> {
    const owner = { userId, factorId };
    try {
      const secret = sealedSecrets.open({ kid: from, box: Buffer.from(stored.value()) }, owner);
      const { kid, box } = sealedSecrets.seal(secret, owner);
      await replace({ kid, box: new Binary(box) });
      return true;
    } catch (error) {
      onFailed(userId, error);
      return false;
    }
  }

  return async (list: ListStale): Promise<number> => {
    let resealed = 0;
    for await (const each of list(sealedSecrets.unusedKids)) {
      if (await reseal(each)) resealed += 1;
    }
    return resealed;
  };
}

function seedsOf(store: ResealSeedsDeps['secondFactors']): ListStale {
  const storedOf = ({ userId, sealed }: StoredSeed): Stored => ({
    ...{ userId, factorId: sealed.factor_id, kid: sealed.kid, box: sealed.seed },
    replace: ({ kid, box }) => store.reseal({ userId, sealed }, { kid, seed: box }),
  });
  return (kids) => mapEach(store.listStale(kids), storedOf);
}

function tokensOf(store: TokenStore): ListStale {
  const storedOf = (stored: StoredToken): Stored => ({
    ...{ userId: stored.userId, factorId: stored.identityId, kid: stored.kid, box: stored.token },
    replace: ({ kid, box }) => store.reseal(stored, { kid, token: box }),
  });
  return (kids) => mapEach(store.listStale(kids), storedOf);
}

async function* mapEach<T, U>(list: AsyncIterable<T>, map: (each: T) => U): AsyncIterable<U> {
  for await (const each of list) yield map(each);
}
