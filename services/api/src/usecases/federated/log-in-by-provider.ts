import type { FederatedLoginRequest } from '@auth-account/contracts/http/federated';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError, isAppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { IdentityDocument } from '@auth-account/stores/documents';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { VerifiedIdentity } from '../../security/providers/provider.ts';
import type { ProviderOutcome } from '../../security/providers/provider-metrics.ts';
import type { CompleteLogin } from '../login/complete-login.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import { deviceOfProof, type OncePerChallenge } from '../proofs/once-per-proof.ts';
import type { KeepProviderToken } from './keep-provider-token.ts';
import type { DemandLink, OpenProviderChallenge, ProviderChallenge } from './provider-challenge.ts';
import type { RegisterIdentity } from './register-identity.ts';

export interface LogInByProviderDeps {
  readonly identities: Pick<IdentityStore, 'findHolder'>;
  readonly openProviderChallenge: OpenProviderChallenge;
  readonly registerIdentity: RegisterIdentity;
  readonly demandLink: DemandLink;
  readonly keepProviderToken: KeepProviderToken;
  readonly oncePerChallenge: OncePerChallenge;
  readonly completeLogin: CompleteLogin;
  readonly countProviderLogin: CountProviderLogin;
  readonly limits: Pick<Limits, 'logInByProvider'>;
  readonly audit: Audit;
}

export interface ProviderLogin {
  readonly data: TokenResponse['data'];
  /** True if the request has created the account. */
  readonly isCreated: boolean;
}

/**
 * Logs a user in by an ID token of a provider (docs/specification/sign-in.md, "Providers"). A person whom no account
 * has gets a new one if the request says in which space, but not if an account has the email address. What a right
 * token came to is counted; a repeat of a lost answer counts again.
 *
 * Raises `ERR-RATE-LIMITED`, `ERR-IDENTITY-DISABLED`, the errors of {@link OpenProviderChallenge}, {@link DemandLink},
 * {@link RegisterIdentity} and {@link CompleteLogin}, and `ERR-CODE-EXPIRED` if a sign-in method was changed since the
 * check.
 */
export function createLogInByProvider(deps: LogInByProviderDeps) {
  const { openProviderChallenge, oncePerChallenge, limits, countProviderLogin } = deps;
  const open = createOpen(deps);

  async function logIn(provider: string, input: FederatedLoginRequest, origin: RequestOrigin): Promise<ProviderLogin> {
    await limits.logInByProvider(origin);
    const challenge = await openProviderChallenge({ provider, ...input });
    const { id, until } = challenge;
    const proof = ['federated', provider, input.id_token, ...deviceOfProof(input.device_id, origin)];
    const challengeUse = { id, until, proof };
    let isCreated = false;
    const openOnce = async () => {
      const opened = await open({ challenge, input, challengeUse }, origin);
      isCreated = opened.isCreated;
      return opened.data;
    };
    return { data: await oncePerChallenge(challengeUse, openOnce, origin), isCreated };
  }

  return async (provider: string, input: FederatedLoginRequest, origin: RequestOrigin): Promise<ProviderLogin> => {
    try {
      const login = await logIn(provider, input, origin);
      countProviderLogin(provider, login.isCreated ? 'registered' : 'logged_in');
      return login;
    } catch (error) {
      const outcome = isAppError(error) ? outcomeOf[error.code] : undefined;
      if (outcome !== undefined) countProviderLogin(provider, outcome);
      throw error;
    }
  };
}

/** Counts what a right ID token came to. */
export type CountProviderLogin = (provider: string, outcome: ProviderOutcome) => void;

/** Errors that are outcomes of their own. Other errors say that the challenge, the token or the account was wrong. */
const outcomeOf: Readonly<Record<string, ProviderOutcome>> = {
  'ERR-SECOND-FACTOR-REQUIRED': 'second_factor_required',
  'ERR-REGISTRATION-REQUIRED': 'registration_required',
  'ERR-IDENTITY-DISABLED': 'identity_disabled',
  'ERR-IDENTITY-ADDRESS-REQUIRED': 'address_required',
  'ERR-ACCOUNT-LINK-REQUIRED': 'address_taken',
  'ERR-EMAIL-ALREADY-EXISTS': 'address_taken',
};

interface PendingRequest {
  readonly challenge: ProviderChallenge;
  readonly input: FederatedLoginRequest;
  readonly challengeUse: ChallengeUse;
}

/** Logs in by a challenge that was not used yet. */
function createOpen(deps: LogInByProviderDeps) {
  const { identities, keepProviderToken, completeLogin } = deps;
  const assertEnabled = createAssertEnabled(deps);
  const prove = createProve(deps);
  const register = createRegister(deps);

  return async ({ challenge, input, challengeUse }: PendingRequest, origin: RequestOrigin): Promise<ProviderLogin> => {
    const identity = await prove(challenge, origin);
    const holder = await identities.findHolder(identity);
    const { user, isCreated } =
      holder === undefined
        ? await register(identity, { challenge, input }, origin)
        : { user: holder, isCreated: false };
    const known = user.identities?.find((each) => each.provider === identity.provider && each.sub === identity.sub);
    assertEnabled(user, known, origin);
    // Before the second factor, because the second step has no code.
    const code = input.authorization_code;
    await keepProviderToken({ code, clientId: identity.clientId, userId: user._id, identity: known }, origin);
    const { data } = await completeLogin(
      {
        ...{ seen: user, isNewAccount: isCreated, device: input, challengeUses: [challengeUse], identityId: known?.id },
        ...({ method: 'federated', auth: { amr: ['fed'], acr: '1' } } as const),
        ifChanged: () => new AppError('ERR-CODE-EXPIRED'),
      },
      origin,
    );
    return { data, isCreated };
  };
}

/** Registers a person whose email address no account has, also if one gets it at the same time. */
function createRegister({ registerIdentity, demandLink }: LogInByProviderDeps) {
  return async (
    identity: VerifiedIdentity,
    { challenge, input }: Omit<PendingRequest, 'challengeUse'>,
    origin: RequestOrigin,
  ) => {
    await demandLink(identity, challenge);
    return registerIdentity(identity, input, origin).catch(async (error: unknown) => {
      if (isAppError(error) && error.code === 'ERR-EMAIL-ALREADY-EXISTS') await demandLink(identity, challenge);
      throw error;
    });
  };
}

/** Checks that the provider has not disabled the person's account there, because somebody else may have it. */
function createAssertEnabled({ audit }: LogInByProviderDeps) {
  return ({ _id: user_id }: PresentUser, known: IdentityDocument | undefined, origin: RequestOrigin): void => {
    if (known?.disabled_at === undefined) return;
    audit({ event: 'login.refused', user_id, reason: 'identity_disabled' }, origin);
    throw new AppError('ERR-IDENTITY-DISABLED');
  };
}

/** Checks the token, and audits one that does not count. */
function createProve({ audit }: LogInByProviderDeps) {
  return async (challenge: ProviderChallenge, origin: RequestOrigin): Promise<VerifiedIdentity> => {
    try {
      return await challenge.verify();
    } catch (error) {
      const isWrong = isAppError(error) && error.code === 'ERR-IDENTITY-TOKEN-INVALID';
      if (isWrong) audit({ event: 'login.failed', user_id: undefined, reason: 'wrong_identity_token' }, origin);
      throw error;
    }
  };
}
