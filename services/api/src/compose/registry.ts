import { redisKeys } from '@auth-account/redis';
import type { RunTransaction, Stores } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import { createCommit } from '../announcements/commit.ts';
import { createEventPublisher } from '../announcements/publish-events.ts';
import type { ApiConfig } from '../config.ts';
import { createOpenIdempotent } from '../idempotency/open-idempotent.ts';
import { createIds } from '../request/ids.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import type { Connections } from '../runtime/shutdown-steps.ts';
import { createHeldKeys, withHeldKeys } from '../security/held-keys.ts';
import { createPasskeyVerifier } from '../security/passkeys/passkey-verifier.ts';
import { createOrderDeletion } from '../usecases/account/order-deletion.ts';
import { createCheckCode } from '../usecases/codes/check-code.ts';
import { createRequestCode } from '../usecases/codes/request-code.ts';
import { createResendCode } from '../usecases/codes/resend-code.ts';
import { createRemoveSignInMethod } from '../usecases/credentials/remove-sign-in-method.ts';
import { createKeepProviderToken } from '../usecases/federated/keep-provider-token.ts';
import { createAddIdentity } from '../usecases/federated/link-identity.ts';
import type { LogInByProviderDeps } from '../usecases/federated/log-in-by-provider.ts';
import { createDemandLink, createOpenProviderChallenge } from '../usecases/federated/provider-challenge.ts';
import { createRegisterIdentity } from '../usecases/federated/register-identity.ts';
import { createChangeGroup } from '../usecases/groups/change-group.ts';
import { createFindCurrentGroup } from '../usecases/groups/find-current-group.ts';
import { createLeaveGroup } from '../usecases/groups/leave-group.ts';
import { createCompleteLogin } from '../usecases/login/complete-login.ts';
import { createDemandSecondFactor } from '../usecases/login/demand-second-factor.ts';
import { createProveEmail } from '../usecases/login/log-in-by-code.ts';
import { createOpenSession } from '../usecases/login/open-session.ts';
import { createCheckFactor, createOpenSeed, createSettleTry } from '../usecases/proofs/check-factor.ts';
import { createAuthenticate } from '../usecases/proofs/check-password.ts';
import { createConsumeProof } from '../usecases/proofs/consume-proof.ts';
import { createOncePerChallenge, createOncePerProof } from '../usecases/proofs/once-per-proof.ts';
import { createPasskeyProof, createRefusePasskey, refuseAllPasskeys } from '../usecases/proofs/passkey-proof.ts';
import { createWarnOfGuesses } from '../usecases/proofs/warn-of-guesses.ts';
import { createCountRegistration, createSpaces, createStoreAccount } from '../usecases/registration/store-account.ts';
import { createChangeSecondFactor } from '../usecases/second-factor/change-second-factor.ts';
import { createEndSessions } from '../usecases/sessions/end-sessions.ts';
import type { ReadRevocationsDeps } from '../usecases/sessions/read-revocations.ts';
import { createIssueTokens } from '../usecases/sessions/session.ts';
import { createReauthenticate } from '../usecases/step-up/reauthenticate.ts';
import { createStepUpTokens } from '../usecases/step-up/step-up-tokens.ts';
import { composeAnnouncements } from './announcements.ts';
import { composeGuards } from './guards.ts';
import type { Security } from './security.ts';
import type { Waits } from './waits.ts';

/** Settings, keys, stores and connections, of which the parts are made. */
export interface Grounds {
  readonly config: ApiConfig;
  readonly logger: Logger;
  readonly metrics: ApiMetrics;
  readonly security: Security;
  readonly stores: Stores & { readonly transaction: RunTransaction };
  readonly connections: Connections;
  readonly waits: Waits;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds since the epoch by the host's clock, for codes of authenticator apps. */
  readonly hostNow: () => number;
}

/**
 * All parts of the api, by name. A use case takes the registry whole, and its `Deps` name the parts that it needs. They
 * are made in the order of this file, because each part takes those before it.
 */
export type Registry = ReturnType<typeof createRegistry>;

export function createRegistry(grounds: Grounds) {
  return accountParts(grounds, loginParts(grounds, proofParts(grounds, firstParts(grounds))));
}

function firstParts(grounds: Grounds) {
  const { config, logger, metrics, security, stores, connections, now } = grounds;
  const { queues, limitRedis } = connections;
  const { heldKeys: name } = redisKeys(config.KEY_PREFIX);
  return begin({
    ...settingsOf(config),
    ...security,
    ...stores,
    ...composeGuards(grounds),
    ...composeAnnouncements(grounds),
    ids: createIds(now),
    now: () => new Date(now()),
    hostNow: () => new Date(grounds.hostNow()),
  })
    .add('events', () => createEventPublisher({ queues, logger, onLeft: () => metrics.eventsLeft.inc() }))
    .add('publishEvent', ({ events }) => events.publish)
    .add('commit', createCommit)
    .add('heldKeys', ({ serverKeys: keys }) => createHeldKeys({ redis: limitRedis, name, keys, now }))
    .add('sealedTokens', ({ sealedTokens, heldKeys }) => withHeldKeys(sealedTokens, heldKeys))
    .add('openIdempotent', createOpenIdempotent)
    .add('endSessions', createEndSessions)
    .add('issueTokens', createIssueTokens).parts;
}

function proofParts({ config }: Grounds, first: ReturnType<typeof firstParts>) {
  return begin(first)
    .add('openSeed', createOpenSeed)
    .add('warnOfGuesses', createWarnOfGuesses)
    .add('verifier', ({ rpId = '' }) => createPasskeyVerifier({ rpId, origins: config.WEBAUTHN_ORIGINS }))
    .add('refusePasskey', createRefusePasskey)
    .add('passkeyProof', (parts) => (parts.rpId === undefined ? refuseAllPasskeys : createPasskeyProof(parts)))
    .add('checkFactor', createCheckFactor)
    .add('settleTry', createSettleTry)
    .add('oncePerProof', createOncePerProof)
    .add('oncePerChallenge', createOncePerChallenge)
    .add('consumeProof', createConsumeProof)
    .add('stepUpTokens', createStepUpTokens)
    .add('reauthenticate', createReauthenticate)
    .add('requestCode', createRequestCode)
    .add('resendCode', createResendCode)
    .add('checkCode', createCheckCode).parts;
}

function loginParts({ metrics }: Grounds, proofs: ReturnType<typeof proofParts>) {
  return begin(proofs)
    .add('authenticate', createAuthenticate)
    .add('demandSecondFactor', createDemandSecondFactor)
    .add('addIdentity', createAddIdentity)
    .add('proveEmail', createProveEmail)
    .add('openSession', createOpenSession)
    .add('completeLogin', createCompleteLogin)
    .add('spaces', createSpaces)
    .add('storeAccount', createStoreAccount)
    .add('countRegistration', () =>
      createCountRegistration((mode, outcome) => metrics.registrations.inc({ mode, outcome })),
    )
    .add(
      'countProviderLogin',
      (): LogInByProviderDeps['countProviderLogin'] => (provider, outcome) =>
        metrics.providerLogins.inc({ provider, outcome }),
    )
    .add('openProviderChallenge', createOpenProviderChallenge)
    .add('registerIdentity', createRegisterIdentity)
    .add('demandLink', createDemandLink)
    .add('keepProviderToken', createKeepProviderToken).parts;
}

function accountParts({ metrics }: Grounds, logins: ReturnType<typeof loginParts>) {
  return begin(logins)
    .add('offered', ({ rpId, verifiers }) => ({ passkeys: rpId !== undefined, providers: verifiers }))
    .add('removeSignInMethod', createRemoveSignInMethod)
    .add('changeSecondFactor', createChangeSecondFactor)
    .add('orderDeletion', createOrderDeletion)
    .add('changeGroup', createChangeGroup)
    .add('findCurrentGroup', createFindCurrentGroup)
    .add('leaveGroup', createLeaveGroup)
    .add(
      'onRevocationsRead',
      (): ReadRevocationsDeps['onRevocationsRead'] =>
        ({ kid: secret }, content) =>
          metrics.revocationReads.inc({ secret, content }),
    ).parts;
}

/** Settings under the names by which the use cases know them. */
function settingsOf(config: ApiConfig) {
  return {
    accessTokenTtlSeconds: config.ACCESS_TOKEN_TTL_SECONDS,
    pushPublicUrl: config.PUSH_PUBLIC_URL,
    retryWindowMs: config.REFRESH_RETRY_WINDOW * 1_000,
    lifetime: {
      idleSeconds: config.REFRESH_TOKEN_IDLE_SECONDS,
      absoluteSeconds: config.REFRESH_TOKEN_ABSOLUTE_SECONDS,
    },
    requiresVerifiedEmail: config.REQUIRE_VERIFIED_EMAIL,
    rpId: config.WEBAUTHN_RP_ID,
    totpIssuer: config.TOTP_ISSUER ?? new URL(config.TOKEN_ISSUER).hostname,
    graceDays: config.ACCOUNT_DELETION_GRACE_DAYS,
    maxGroupMembers: config.MAX_GROUP_MEMBERS,
  };
}

/** A registry that is being made. A part whose dependencies are not there yet does not compile. */
interface Begun<R> {
  readonly parts: R;
  add<N extends string, P>(name: N, create: (parts: R) => P): Begun<R & { readonly [K in N]: P }>;
}

function begin<R extends object>(parts: R): Begun<R> {
  return {
    parts,
    add: <N extends string, P>(name: N, create: (parts: R) => P) =>
      begin({ ...parts, ...({ [name]: create(parts) } as { readonly [K in N]: P }) }),
  };
}
