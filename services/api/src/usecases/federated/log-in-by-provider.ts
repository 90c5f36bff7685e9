import type { FederatedLoginRequest } from '@auth-account/contracts/http/federated';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError, isAppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { IdentityDocument } from '@auth-account/stores/documents';
import type { IdentityStore } from '@auth-account/stores/identities';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { VerifiedIdentity } from '../../security/providers/provider.ts';
import type { AssertEmailVerified } from '../login/assert-email-verified.ts';
import { areCredentialsChanged } from '../login/assert-may-log-in.ts';
import type { DemandSecondFactor } from '../login/demand-second-factor.ts';
import type { OpenSession } from '../login/open-session.ts';
import { deviceOfProof, type OncePerChallenge } from '../login/spend-proof.ts';
import type { KeepProviderToken } from './keep-provider-token.ts';
import type { DemandLink } from './link-challenge.ts';
import type { OpenProviderChallenge, ProviderChallenge } from './provider-challenge.ts';
import type { RegisterIdentity } from './register-identity.ts';

export interface LogInByProviderDeps {
  readonly identities: Pick<IdentityStore, 'findHolder'>;
  readonly openProviderChallenge: OpenProviderChallenge;
  readonly registerIdentity: RegisterIdentity;
  readonly demandLink: DemandLink;
  readonly keepProviderToken: KeepProviderToken;
  readonly oncePerChallenge: OncePerChallenge;
  readonly assertEmailVerified: AssertEmailVerified;
  readonly demandSecondFactor: DemandSecondFactor;
  readonly openSession: OpenSession;
  readonly limits: Pick<Limits, 'logInByProvider' | 'known'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

export interface ProviderLogin {
  readonly data: TokenResponse['data'];
  /** True if the request has created the account. */
  readonly isCreated: boolean;
}

/**
 * Logs a user in by an ID token of a provider (docs/specification/sign-in.md, "Providers"). A person whom no account has
 * gets a new one if the request says in which space, but not if an account has the address.
 *
 * Raises `ERR-RATE-LIMITED`, `ERR-IDENTITY-DISABLED`, the errors of {@link OpenProviderChallenge}, {@link DemandLink}, {@link RegisterIdentity},
 * {@link AssertEmailVerified}, {@link DemandSecondFactor} and {@link OpenSession}, and `ERR-CODE-EXPIRED` if a way in was
 * changed since the check.
 */
export function createLogInByProvider(deps: LogInByProviderDeps) {
  const { openProviderChallenge, oncePerChallenge, limits } = deps;
  const open = createOpen(deps);

  return async (provider: string, input: FederatedLoginRequest, origin: RequestOrigin): Promise<ProviderLogin> => {
    await limits.logInByProvider(origin);
    const challenge = await openProviderChallenge({ provider, ...input });
    const { id, until } = challenge;
    const proof = ['federated', provider, input.id_token, ...deviceOfProof(input.device_id, origin)];
    let isCreated = false;
    const login = async () => {
      const opened = await open({ challenge, input, spend: { id, until, proof } }, origin);
      isCreated = opened.isCreated;
      return opened.data;
    };
    try {
      return { data: await oncePerChallenge({ id, until, proof }, login, origin), isCreated };
    } catch (error) {
      throw areCredentialsChanged(error) ? new AppError('ERR-CODE-EXPIRED') : error;
    }
  };
}

interface Asked {
  readonly challenge: ProviderChallenge;
  readonly input: FederatedLoginRequest;
  readonly spend: Parameters<OncePerChallenge>[0];
}

/** Creates the login by a challenge that was not used yet. */
function createOpen(deps: LogInByProviderDeps) {
  const { identities, keepProviderToken, assertEmailVerified, demandSecondFactor, openSession, limits } = deps;
  const assertEnabled = createAssertEnabled(deps);
  const prove = createProve(deps);
  const register = createRegister(deps);

  return async ({ challenge, input, spend }: Asked, origin: RequestOrigin): Promise<ProviderLogin> => {
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
    await assertEmailVerified(user, origin);
    const first = { method: 'federated', amr: ['fed'], identityId: known?.id } as const;
    const half = { ...first, first: spend, device: input, trustedDeviceToken: input.trusted_device_token };
    const trust = demandSecondFactor(user, half, origin);
    const auth = { amr: first.amr, acr: '1' } as const;
    const { method, identityId } = first;
    const login = { seen: user, device: input, method, identityId, auth, trust, spends: [spend] };
    const { data } = await openSession(login, origin);
    if (!isCreated && !hasSecondFactor(user)) await limits.known(user.email, origin);
    return { data, isCreated };
  };
}

/** Creates the registration of a person whose address no account has, also if one gets it at the same time. */
function createRegister({ registerIdentity, demandLink }: LogInByProviderDeps) {
  return async (identity: VerifiedIdentity, { challenge, input }: Omit<Asked, 'spend'>, origin: RequestOrigin) => {
    await demandLink(identity, challenge);
    return registerIdentity(identity, input, origin).catch(async (error: unknown) => {
      if (isAppError(error) && error.code === 'ERR-EMAIL-ALREADY-EXISTS') await demandLink(identity, challenge);
      throw error;
    });
  };
}

/** Creates the check that the provider has not disabled the person's account there, because somebody else may have it. */
function createAssertEnabled({ audit }: LogInByProviderDeps) {
  return ({ _id: user_id }: PresentUser, known: IdentityDocument | undefined, origin: RequestOrigin): void => {
    if (known?.disabled_at === undefined) return;
    audit({ event: 'login.refused', user_id, reason: 'identity_disabled' }, origin);
    throw new AppError('ERR-IDENTITY-DISABLED');
  };
}

/** Creates the check of the token, which audits a token that does not count. */
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
