import { AppError } from '@auth-account/errors';
import type { Operations } from '../http/operations.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import { type CountProviderLogin, countProviderLogins } from '../usecases/federated/count-provider-logins.ts';
import { createListIdentities, type ListIdentitiesDeps } from '../usecases/federated/identity-lists.ts';
import { createKeepProviderToken, type KeepProviderTokenDeps } from '../usecases/federated/keep-provider-token.ts';
import { createLinkByProof, type LinkByProofDeps } from '../usecases/federated/link-by-proof.ts';
import { createDemandLink, type LinkChallengeDeps } from '../usecases/federated/link-challenge.ts';
import { createLinkIdentity, type LinkIdentityDeps } from '../usecases/federated/link-identity.ts';
import { createLogInByProvider, type LogInByProviderDeps } from '../usecases/federated/log-in-by-provider.ts';
import {
  createCreateFederatedChallenge,
  createOpenProviderChallenge,
  type ProviderChallengeDeps,
} from '../usecases/federated/provider-challenge.ts';
import { createReceiveNotice, type ReceiveNoticeDeps } from '../usecases/federated/receive-notice.ts';
import { createRegisterIdentity, type RegisterIdentityDeps } from '../usecases/federated/register-identity.ts';
import { createRequestLinkCode, type RequestLinkCodeDeps } from '../usecases/federated/request-link-code.ts';
import { createUnlinkIdentity, type UnlinkIdentityDeps } from '../usecases/federated/unlink-identity.ts';
import type { OpenedProviders } from './provider-tokens.ts';

const names = [
  'createFederatedChallenge',
  'requestLinkCode',
  'linkByProof',
  'logInByProvider',
  'listIdentities',
  'linkIdentity',
  'unlinkIdentity',
  'receiveProviderNotice',
] as const;
type ProviderOperations = Pick<Operations, (typeof names)[number]>;

type OwnParts =
  | 'verifiers'
  | 'openProviderChallenge'
  | 'registerIdentity'
  | 'demandLink'
  | 'exchanges'
  | 'onNotStored'
  | 'keepProviderToken'
  | 'notices';
export type ProviderUseCaseParts = Omit<
  ProviderChallengeDeps &
    LogInByProviderDeps &
    RegisterIdentityDeps &
    LinkChallengeDeps &
    RequestLinkCodeDeps &
    LinkByProofDeps &
    KeepProviderTokenDeps &
    ReceiveNoticeDeps &
    LinkIdentityDeps &
    UnlinkIdentityDeps &
    ListIdentitiesDeps,
  OwnParts
> & { readonly metrics: Pick<ApiMetrics, 'providerLogins'> };

/** Creates the use cases of providers. Without providers each answers that there is no such route. */
export function providerUseCases(
  parts: ProviderUseCaseParts,
  { verifiers, exchanges, onNotStored, notices }: OpenedProviders,
): ProviderOperations {
  if (verifiers.size === 0) {
    return Object.fromEntries(names.map((name) => [name, refuse])) as unknown as ProviderOperations;
  }
  const challenges = { ...parts, verifiers };
  const all = {
    ...parts,
    openProviderChallenge: createOpenProviderChallenge(challenges),
    registerIdentity: createRegisterIdentity(parts),
    demandLink: createDemandLink(parts),
    keepProviderToken: createKeepProviderToken({ ...parts, exchanges, onNotStored }),
  };
  const count: CountProviderLogin = (provider, outcome) => parts.metrics.providerLogins.inc({ provider, outcome });
  return {
    createFederatedChallenge: createCreateFederatedChallenge(challenges),
    requestLinkCode: createRequestLinkCode(all),
    linkByProof: createLinkByProof(all),
    logInByProvider: countProviderLogins(createLogInByProvider(all), count, ({ isCreated }) =>
      isCreated ? 'registered' : 'logged_in',
    ),
    listIdentities: createListIdentities(all),
    linkIdentity: createLinkIdentity(all),
    unlinkIdentity: createUnlinkIdentity(all),
    receiveProviderNotice: createReceiveNotice({ ...parts, notices }),
  };
}

async function refuse(): Promise<never> {
  throw new AppError('ERR-ROUTE-NOT-FOUND');
}
