import { hash, randomUUID } from 'node:crypto';
import type { FederatedChallengeResponse } from '@auth-account/contracts/http/federated';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { SealedTokens } from '@auth-account/tokens';
import { requestOptions } from '../../security/passkeys/passkey-verifier.ts';
import type { VerifiedIdentity, VerifyIdToken } from '../../security/providers/provider.ts';
import type { NewIdentity } from '../login/proved-login.ts';

export interface ProviderChallengeDeps {
  readonly sealedTokens: SealedTokens;
  /** The check of each provider's tokens, by name. */
  readonly verifiers: ReadonlyMap<string, VerifyIdToken>;
  readonly now: () => Date;
}

/** Content of a challenge. It names no provider and no account. */
interface SealedChallenge {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Milliseconds for which a challenge counts. */
const challengeLifeMs = 600_000;

/** Returns the nonce of a challenge. The provider signs it, so a token counts for its own challenge only. */
function nonceOf(challengeId: string): string {
  return hash('sha256', `nonce:${challengeId}`, 'base64url');
}

/** Begins a login by a provider. The answer is the same for everybody, and nothing is stored. */
export function createIssueFederatedChallenge({ sealedTokens, now }: ProviderChallengeDeps) {
  return async (): Promise<FederatedChallengeResponse['data']> => {
    const at = now();
    const until = at.getTime() + challengeLifeMs;
    const challenge_id = sealedTokens.seal('federated', { id: randomUUID(), until } satisfies SealedChallenge);
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

/** Opens challenges. */
export function createOpenProviderChallenge({
  sealedTokens,
  verifiers,
  now,
}: ProviderChallengeDeps): OpenProviderChallenge {
  return async ({ provider, challenge_id, id_token }) => {
    const verify = verifiers.get(provider);
    if (verify === undefined) throw new AppError('ERR-ROUTE-NOT-FOUND');
    const sealed = (await sealedTokens.open('federated', challenge_id)) as SealedChallenge | undefined;
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

export interface LinkChallengeDeps {
  readonly users: Pick<UserStore, 'findByEmail'>;
  readonly sealedTokens: SealedTokens;
  /** `WEBAUTHN_RP_ID`; undefined if the service has no passkeys. */
  readonly rpId: string | undefined;
  readonly now: () => Date;
}

/**
 * A challenge to prove an account, which then gets an identity. Whoever has it has shown the identity's token, and
 * nothing of the account.
 */
export interface LinkChallenge {
  /** The id of the provider's challenge. So an ID token opens one session, with its account or by the link. */
  readonly id: string;
  readonly userId: string;
  /** The account's version. A change of a sign-in method or of the email address ends the challenge. */
  readonly version: string;
  readonly identity: NewIdentity & { readonly email: string };
  readonly until: Date;
}

interface SealedLink extends Omit<LinkChallenge, 'until'> {
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Raises `ERR-ACCOUNT-LINK-REQUIRED` if an account has the email address of the identity. */
export type DemandLink = (identity: VerifiedIdentity, challenge: Pick<ProviderChallenge, 'id'>) => Promise<void>;

/**
 * Continues a login by an identity that no account has. The methods are the same for every account, because the token
 * shows nothing of it but the email address.
 */
export function createDemandLink({ users, sealedTokens, rpId, now }: LinkChallengeDeps): DemandLink {
  return async ({ provider, sub, email }, { id }) => {
    const user = email === undefined ? undefined : await users.findByEmail(email);
    if (email === undefined || user === undefined) return;
    // A simultaneous registration has created this account for the same person.
    if (user.identities?.some((own) => own.provider === provider && own.sub === sub)) return;
    const until = now().getTime() + challengeLifeMs;
    const sealed: SealedLink = {
      ...{ id, until, userId: user._id, version: credentialsVersion(user) },
      identity: { provider, sub, email },
    };
    const link_challenge_id = sealedTokens.seal('link', sealed);
    throw new AppError('ERR-ACCOUNT-LINK-REQUIRED', {
      details: {
        link_challenge_id,
        methods: ['password', ...(rpId === undefined ? [] : ['passkey']), 'email_code'],
        expires_at: new Date(until).toISOString(),
        ...(rpId !== undefined && { passkey_options: { ...requestOptions(rpId, link_challenge_id) } }),
      },
    });
  };
}

/** Opens a challenge, which may be over. Raises `ERR-CODE-EXPIRED` for any other text. */
export async function openLinkChallenge(
  sealedTokens: Pick<SealedTokens, 'open'>,
  text: string,
): Promise<LinkChallenge> {
  const sealed = (await sealedTokens.open('link', text)) as SealedLink | undefined;
  if (sealed === undefined) throw new AppError('ERR-CODE-EXPIRED');
  return { ...sealed, until: new Date(sealed.until) };
}

/** Raises `ERR-CODE-EXPIRED` unless the challenge counts for the account as it is now. */
export function assertCounts(
  { userId, version, until }: LinkChallenge,
  user: PresentUser | undefined,
  at: Date,
): asserts user is PresentUser {
  const isSame = user?._id === userId && credentialsVersion(user) === version;
  if (!isSame || until <= at) throw new AppError('ERR-CODE-EXPIRED');
}

/**
 * Returns the digest by which a code belongs to the challenge. The same nonce may be in the tokens of several persons,
 * and the code counts for the one that its mail names.
 */
export function linkDigest({ id, identity: { provider, sub } }: LinkChallenge): string {
  return hash('sha256', JSON.stringify([id, provider, sub]), 'base64url');
}
