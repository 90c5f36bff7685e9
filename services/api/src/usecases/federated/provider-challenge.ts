import { hash, randomUUID } from 'node:crypto';
import type { FederatedChallengeResponse } from '@auth-account/contracts/http/federated';
import { AppError } from '@auth-account/errors';
import type { SealedTokens } from '@auth-account/tokens';
import type { VerifiedIdentity, VerifyIdToken } from '../../security/providers/provider.ts';

export interface ProviderChallengeDeps {
  readonly sealedTokens: SealedTokens;
  /** The check of each provider's tokens, by name. */
  readonly verifiers: ReadonlyMap<string, VerifyIdToken>;
  readonly now: () => Date;
}

/** Content of a challenge. It names no provider and no account. */
interface Sealed {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Milliseconds for which a challenge counts. */
export const challengeLifeMs = 600_000;

/** Returns the nonce of a challenge. The provider signs it, so a token counts for its own challenge only. */
function nonceOf(challengeId: string): string {
  return hash('sha256', `nonce:${challengeId}`, 'base64url');
}

/** Begins a login by a provider. The answer is the same for everybody, and nothing is stored. */
export function createCreateFederatedChallenge({ sealedTokens, now }: ProviderChallengeDeps) {
  return async (): Promise<FederatedChallengeResponse['data']> => {
    const at = now();
    const until = at.getTime() + challengeLifeMs;
    const challenge_id = sealedTokens.seal('federated', { id: randomUUID(), until } satisfies Sealed);
    const nonce = nonceOf(challenge_id);
    return {
      challenge_id,
      nonce,
      nonce_sha256: hash('sha256', nonce, 'hex'),
      expires_at: new Date(until).toISOString(),
      timestamp: at.toISOString(),
    };
  };
}

/** A token that a provider may have issued for a challenge. */
export interface GivenIdToken {
  readonly provider: string;
  readonly challenge_id: string;
  readonly id_token: string;
}

/** A challenge of this service. It may be over. */
export interface ProviderChallenge {
  readonly id: string;
  /** Time until which its use must be known: as long as a link challenge that it has led to counts. */
  readonly until: Date;
  /**
   * Returns the person whom the token names. Raises `ERR-CODE-EXPIRED` if the challenge is over,
   * `ERR-IDENTITY-TOKEN-INVALID`, and `ERR-DEPENDENCY-UNAVAILABLE` while the provider's keys are not there.
   */
  verify(): Promise<VerifiedIdentity>;
}

/**
 * Opens the challenge of a token. Raises `ERR-ROUTE-NOT-FOUND` for a provider that is not configured, and
 * `ERR-CODE-EXPIRED` for a text that is no challenge.
 */
export type OpenProviderChallenge = (given: GivenIdToken) => Promise<ProviderChallenge>;

/** Creates the function that opens challenges. */
export function createOpenProviderChallenge({
  sealedTokens,
  verifiers,
  now,
}: ProviderChallengeDeps): OpenProviderChallenge {
  return async ({ provider, challenge_id, id_token }) => {
    const verify = verifiers.get(provider);
    if (verify === undefined) throw new AppError('ERR-ROUTE-NOT-FOUND');
    const sealed = (await sealedTokens.open('federated', challenge_id)) as Sealed | undefined;
    if (sealed === undefined) throw new AppError('ERR-CODE-EXPIRED');
    return {
      id: sealed.id,
      until: new Date(sealed.until + challengeLifeMs),
      async verify() {
        if (sealed.until <= now().getTime()) throw new AppError('ERR-CODE-EXPIRED');
        const identity = await verify(id_token, nonceOf(challenge_id));
        if (identity === undefined) throw new AppError('ERR-IDENTITY-TOKEN-INVALID');
        return identity;
      },
    };
  };
}
