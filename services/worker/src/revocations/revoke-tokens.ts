import type { ProviderRevocationDocument } from '@auth-account/stores/documents';
import type { ProviderRevocationStore } from '@auth-account/stores/provider-revocations';
import type { SealedSecrets } from '@auth-account/tokens';
import type { ProviderClient, RefusalFault } from '@auth-account/tokens/provider-client';

export interface RevokeTokensDeps {
  readonly providerRevocations: Pick<ProviderRevocationStore, 'claim' | 'defer' | 'remove'>;
  /** Returns the client of a provider; undefined if the provider is not configured. */
  readonly findClient: (provider: string) => Promise<Pick<ProviderClient, 'revoke'> | undefined>;
  readonly sealedSecrets: Pick<SealedSecrets, 'open' | 'hasKey' | 'rereadKeys'>;
  readonly onRevoked: (row: ProviderRevocationDocument) => void;
  /** Called for an attempt that failed, also if it is the last one. Only a refusal has a fault. */
  readonly onFailed: (row: ProviderRevocationDocument, error: Error & { readonly fault?: RefusalFault }) => void;
  readonly onGivenUp: (row: ProviderRevocationDocument) => void;
  readonly now: () => Date;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
}

/** Milliseconds after which another worker takes over a token whose revocation was not finished. */
const leaseMs = 60_000;
const giveUpAfterMs = 30 * 86_400_000;
const [firstPauseMs, maxPauseMs] = [10_000, 6 * 3_600_000];

/**
 * Runs one round, which asks the providers to revoke the tokens that are due. A token is removed once its provider says
 * that it does not count any more, and given up after 30 days. An attempt that fails defers its token, twice as long
 * each time, and ends the round for its provider: one that is down is not asked for each token. If a worker is killed,
 * another asks again, which does no harm. Nothing waits for a revocation.
 */
export function createRevokeTokens(deps: RevokeTokensDeps): () => Promise<void> {
  const { providerRevocations, onRevoked, onFailed, onGivenUp, now, random } = deps;
  const revoke = createRevoke(deps);

  async function defer(row: ProviderRevocationDocument): Promise<void> {
    const at = now().getTime();
    if (at - row.created_at.getTime() >= giveUpAfterMs) {
      await providerRevocations.remove(row._id);
      onGivenUp(row);
      return;
    }
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (row.attempts - 1));
    await providerRevocations.defer(row._id, new Date(at + (pauseMs * (1 + random())) / 2));
  }

  return async () => {
    const failed = new Set<string>();
    for (;;) {
      const at = now();
      const row = await providerRevocations.claim(at, new Date(at.getTime() + leaseMs), [...failed]);
      if (row === undefined) return;
      try {
        await revoke(row);
      } catch (error) {
        onFailed(row, error as Error);
        await defer(row);
        failed.add(row.provider);
        continue;
      }
      await providerRevocations.remove(row._id);
      onRevoked(row);
    }
  };
}

function createRevoke({ findClient, sealedSecrets }: RevokeTokensDeps) {
  return async ({ _id, user_id, provider, client_id, kid, token }: ProviderRevocationDocument): Promise<void> => {
    const client = await findClient(provider);
    if (client === undefined) throw new Error('IDENTITY_PROVIDERS has no such provider, or no key for it');
    if (!sealedSecrets.hasKey(kid)) await sealedSecrets.rereadKeys();
    const opened = sealedSecrets.open({ kid, box: Buffer.from(token.value()) }, { userId: user_id, factorId: _id });
    await client.revoke(opened.toString(), client_id);
  };
}
