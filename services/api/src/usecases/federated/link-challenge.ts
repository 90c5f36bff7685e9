import { hash } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { SealedTokens } from '@auth-account/tokens';
import type { VerifiedIdentity } from '../../security/providers/provider.ts';
import type { NewIdentity } from '../login/add-identity.ts';
import { requestOptions } from '../proofs/passkey-options.ts';
import { challengeLifeMs, type ProviderChallenge } from './provider-challenge.ts';

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
  /** The account's version. A change of a way in or of the address ends the challenge. */
  readonly version: string;
  readonly identity: NewIdentity & { readonly email: string };
  readonly until: Date;
}

interface Sealed extends Omit<LinkChallenge, 'until'> {
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Raises `ERR-ACCOUNT-LINK-REQUIRED` if an account has the address of the identity. */
export type DemandLink = (identity: VerifiedIdentity, challenge: Pick<ProviderChallenge, 'id'>) => Promise<void>;

/**
 * Creates the step of a login by an identity that no account has. The methods are the same for every account, because
 * the token shows nothing of it but the address.
 */
export function createDemandLink({ users, sealedTokens, rpId, now }: LinkChallengeDeps): DemandLink {
  return async ({ provider, sub, email }, { id }) => {
    const user = email === undefined ? undefined : await users.findByEmail(email);
    if (email === undefined || user === undefined) return;
    // A simultaneous registration has created this account for the same person.
    if (user.identities?.some((own) => own.provider === provider && own.sub === sub)) return;
    const until = now().getTime() + challengeLifeMs;
    const sealed: Sealed = {
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
  const sealed = (await sealedTokens.open('link', text)) as Sealed | undefined;
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
 * Returns the digest by which a code belongs to the challenge. The same nonce may be in the tokens of several persons, and
 * the code counts for the one of whom its mail tells.
 */
export function linkDigest({ id, identity: { provider, sub } }: LinkChallenge): string {
  return hash('sha256', JSON.stringify([id, provider, sub]), 'base64url');
}
