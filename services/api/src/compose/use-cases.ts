import type { ReadDenialPage } from '@auth-account/redis/denial-pages';
import type { Stores } from '@auth-account/stores';
import type { Announcement, IsDenied } from '../announcements/announce.ts';
import type { Commit } from '../announcements/commit.ts';
import type { ApiConfig } from '../config.ts';
import type { Operations } from '../http/operations.ts';
import { createOpenIdempotent } from '../idempotency/open-idempotent.ts';
import { createIds } from '../request/ids.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import { createChangeAccount } from '../usecases/account/change-account.ts';
import { createExportAccount } from '../usecases/account/export-account.ts';
import { createFindAccount } from '../usecases/account/find-account.ts';
import { createRestoreAccount } from '../usecases/account/restore-account.ts';
import { createCheckCode } from '../usecases/codes/check-code.ts';
import type { RequestCode } from '../usecases/codes/request-code.ts';
import { createChangePassword } from '../usecases/credentials/change-password.ts';
import { createRemoveWay } from '../usecases/credentials/remove-way.ts';
import { createChangeGroup } from '../usecases/groups/change-group.ts';
import { createFindCurrentGroup } from '../usecases/groups/find-current-group.ts';
import { createHandOverGroup } from '../usecases/groups/hand-over-group.ts';
import { createLeaveGroup } from '../usecases/groups/leave-group.ts';
import { createRemoveMember } from '../usecases/groups/remove-member.ts';
import { createRenameGroup } from '../usecases/groups/rename-group.ts';
import { createAcceptInvite } from '../usecases/invites/accept-invite.ts';
import { createCreateInvite } from '../usecases/invites/create-invite.ts';
import { createFindInvite } from '../usecases/invites/find-invite.ts';
import { createListInvites } from '../usecases/invites/list-invites.ts';
import { createRevokeInvite } from '../usecases/invites/revoke-invite.ts';
import { createAddIdentity } from '../usecases/login/add-identity.ts';
import { createAssertEmailVerified } from '../usecases/login/assert-email-verified.ts';
import { createAuthenticate } from '../usecases/login/authenticate.ts';
import { createDemandSecondFactor } from '../usecases/login/demand-second-factor.ts';
import { createLogIn } from '../usecases/login/log-in.ts';
import { createOpenByCode } from '../usecases/login/log-in-by-code.ts';
import { createOpenSession } from '../usecases/login/open-session.ts';
import { createProveAddress } from '../usecases/login/prove-address.ts';
import { createOncePerChallenge, createSpendProof } from '../usecases/login/spend-proof.ts';
import { createCheckFactor } from '../usecases/proofs/check-factor.ts';
import { createOncePerProof } from '../usecases/proofs/once-per-proof.ts';
import { createOpenSeed } from '../usecases/proofs/open-seed.ts';
import { createWarnOfGuesses } from '../usecases/proofs/warn-of-guesses.ts';
import { createCountRegistration } from '../usecases/registration/count-registration.ts';
import { createRegister } from '../usecases/registration/register.ts';
import { createSpaces } from '../usecases/registration/spaces.ts';
import { createStoreAccount } from '../usecases/registration/store-account.ts';
import { createEndSessions } from '../usecases/sessions/end-sessions.ts';
import { createIssueTokens } from '../usecases/sessions/issue-tokens.ts';
import { createListSessions } from '../usecases/sessions/list-sessions.ts';
import { createLogOut } from '../usecases/sessions/log-out.ts';
import { createLogOutAll } from '../usecases/sessions/log-out-all.ts';
import { createReadRevocations } from '../usecases/sessions/read-revocations.ts';
import { createRefresh } from '../usecases/sessions/refresh.ts';
import { createRevokeSession } from '../usecases/sessions/revoke-session.ts';
import { createReauthenticate } from '../usecases/step-up/reauthenticate.ts';
import { createStepUpTokens } from '../usecases/step-up/step-up-tokens.ts';
import { codeUseCases } from './code-use-cases.ts';
import { createLimitWrites, type Guards } from './guards.ts';
import { loginCodeUseCases } from './login-code-use-cases.ts';
import { composePasskeys, passkeyUseCases } from './passkey-use-cases.ts';
import { providerUseCases } from './provider-use-cases.ts';
import { secondFactorUseCases } from './second-factor-use-cases.ts';
import type { Security } from './security.ts';

export interface UseCaseParts extends Pick<Guards, 'audit' | 'limits'> {
  readonly config: ApiConfig;
  readonly stores: Stores;
  /** Shared by all use cases, so that changes of the same group run one after another. */
  readonly commit: Commit;
  readonly security: Security;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly readDenialPage: ReadDenialPage;
  readonly metrics: ApiMetrics;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds since the epoch by the host's clock, for codes of authenticator apps. */
  readonly hostNow: () => number;
}

/** Creates the use case of each route with its dependencies. */
export function composeUseCases(parts: UseCaseParts): Operations {
  const shared = sharedParts(parts);
  const { hasher, emailCodes: codes, emailChangeTokens, removalStopTokens } = parts.security;
  const graceDays = parts.config.ACCOUNT_DELETION_GRACE_DAYS;
  const mailed = { codes, emailChangeTokens, removalStopTokens };
  const { requestCode, ...withCodes } = codeUseCases({ ...shared, ...mailed, hasher, graceDays });
  return {
    ...accountUseCases(parts, { ...shared, requestCode }),
    ...withCodes,
    deleteSecondFactorRemoval: createLimitWrites(parts.limits)(withCodes.deleteSecondFactorRemoval),
    ...groupUseCases(shared),
    ...inviteUseCases(shared),
    readRevocations: createReadRevocations({
      ...shared,
      readPage: parts.readDenialPage,
      signStatement: parts.security.signStatement,
      onRead: ({ kid }, content) => parts.metrics.revocationReads.inc({ secret: kid, content }),
    }),
  };
}

type SharedParts = ReturnType<typeof sharedParts>;

function sharedParts(parts: UseCaseParts) {
  const { config, stores, commit, security, announce, isDenied, limits, audit } = parts;
  const date = () => new Date(parts.now());
  const ids = createIds(parts.now);
  const hostNow = () => new Date(parts.hostNow());
  const { idempotency: store, outbox: _ofCommit, ...nouns } = stores;
  const { sealedTokens, sealedSecrets, serverSecrets: secrets, signAccessToken, refreshTokens } = security;
  const openSeed = createOpenSeed({ sealedSecrets, now: date });
  const warnOfGuesses = createWarnOfGuesses({ ...nouns, commit, ids, now: date });
  const passkeyParts = composePasskeys(config, { ...nouns, audit });
  const passkeyProof = passkeyParts?.passkeyProof;
  return {
    ...nouns,
    secrets,
    openSeed,
    checkFactor: createCheckFactor({ ...nouns, openSeed, passkeyProof, limits, warnOfGuesses, audit, ids, hostNow }),
    passkeyParts,
    rpId: passkeyParts?.rpId,
    warnOfGuesses,
    stepUpTokens: createStepUpTokens({ ...nouns, sealedTokens, secrets, now: date }),
    oncePerProof: createOncePerProof({ ...nouns, secrets, now: date }),
    issueTokens: createIssueTokens({
      signAccessToken,
      refreshTokens,
      accessTokenTtlSeconds: config.ACCESS_TOKEN_TTL_SECONDS,
      pushPublicUrl: config.PUSH_PUBLIC_URL,
      now: date,
    }),
    commit,
    announce,
    isDenied,
    limits,
    audit,
    ids,
    openIdempotent: createOpenIdempotent({ store, secrets, now: date }),
    maxGroupMembers: config.MAX_GROUP_MEMBERS,
    now: date,
    hostNow,
  };
}

function accountUseCases(
  { config, security, metrics }: UseCaseParts,
  parts: SharedParts & { readonly requestCode: RequestCode },
) {
  const { hasher, refreshTokens, sealedTokens, emailCodes: codes } = security;
  const lifetime = {
    idleSeconds: config.REFRESH_TOKEN_IDLE_SECONDS,
    absoluteSeconds: config.REFRESH_TOKEN_ABSOLUTE_SECONDS,
  };
  const retryWindowMs = config.REFRESH_RETRY_WINDOW * 1_000;
  const shared = { ...parts, hasher, refreshTokens, lifetime };
  const reauthenticate = createReauthenticate(shared);
  const offered = { passkeys: shared.passkeyParts !== undefined, providers: security.providers.verifiers };
  const removeWay = createRemoveWay({ ...shared, reauthenticate, offered });
  const fresh = { ...shared, reauthenticate, removeWay, endSessions: createEndSessions(shared) };
  const isRequired = config.REQUIRE_VERIFIED_EMAIL;
  const assertEmailVerified = createAssertEmailVerified({ ...shared, isRequired });
  const spendProof = createSpendProof(shared);
  const addIdentity = createAddIdentity(shared);
  const openSession = createOpenSession({ ...shared, spendProof, addIdentity });
  const oncePerChallenge = createOncePerChallenge(shared);
  const byPasskey = { ...fresh, sealedTokens, oncePerChallenge, openSession, assertEmailVerified };
  const passkeys = passkeyUseCases(byPasskey, shared.passkeyParts);
  const limited = createLimitWrites(parts.limits);
  const demandSecondFactor = createDemandSecondFactor({ ...shared, sealedTokens });
  const spaces = createSpaces(shared);
  const storeAccount = createStoreAccount({ ...shared, spaces });
  const countRegistration = createCountRegistration((mode, outcome) => metrics.registrations.inc({ mode, outcome }));
  const registering = { ...shared, spaces, storeAccount, countRegistration };
  const { sealedSecrets } = security;
  const byCode = {
    ...fresh,
    codes,
    oncePerChallenge,
    openSession,
    demandSecondFactor,
    proveAddress: createProveAddress(fresh),
  };
  const linking = {
    ...{ spendProof, addIdentity, passkeyProof: shared.passkeyParts?.passkeyProof },
    ...{ authenticate: createAuthenticate(shared), checkCode: createCheckCode(byCode) },
    openByCode: createOpenByCode(byCode),
  };
  const byProvider = { ...byPasskey, ...registering, ...linking, sealedSecrets, demandSecondFactor, metrics };
  const sealing = { sealedSecrets, sealedTokens, totpIssuer: totpIssuerOf(config) };
  const secondFactor = secondFactorUseCases({ ...fresh, ...sealing, openSession, oncePerChallenge });
  return {
    ...secondFactor,
    deleteTrustedDevice: limited(secondFactor.deleteTrustedDevice),
    ...passkeys,
    renamePasskey: limited(passkeys.renamePasskey),
    ...loginCodeUseCases(byCode, config.EMAIL_CODE_LOGIN),
    ...providerUseCases(byProvider, security.providers),
    registerAccount: createRegister(registering),
    findAccount: createFindAccount(shared),
    changeAccount: limited(createChangeAccount(shared)),
    exportAccount: createExportAccount(fresh),
    changePassword: createChangePassword(fresh),
    restoreAccount: createRestoreAccount({ ...shared, authenticate: createAuthenticate(shared) }),
    logIn: createLogIn({ ...shared, openSession, assertEmailVerified, demandSecondFactor }),
    refreshTokens: createRefresh({ ...shared, retryWindowMs }),
    logOut: createLogOut(shared),
    logOutAll: limited(createLogOutAll(shared)),
    listSessions: createListSessions(shared),
    revokeSession: limited(createRevokeSession(fresh)),
  };
}

function totpIssuerOf({ TOTP_ISSUER, TOKEN_ISSUER }: ApiConfig): string {
  return TOTP_ISSUER ?? new URL(TOKEN_ISSUER).hostname;
}

function groupUseCases(parts: SharedParts) {
  const shared = { ...parts, changeGroup: createChangeGroup(parts) };
  const leaveGroup = createLeaveGroup(shared);
  const findCurrentGroup = createFindCurrentGroup(shared);
  const limited = createLimitWrites(parts.limits);
  return {
    findCurrentGroup,
    renameGroup: limited(createRenameGroup({ ...shared, findCurrentGroup })),
    handOverGroup: limited(createHandOverGroup(shared)),
    acceptInvite: createAcceptInvite(shared),
    leaveGroup,
    removeMember: limited(createRemoveMember({ ...shared, leaveGroup })),
  };
}

function inviteUseCases(shared: SharedParts) {
  return {
    createInvite: createCreateInvite(shared),
    listInvites: createListInvites(shared),
    findInvite: createFindInvite(shared),
    revokeInvite: createRevokeInvite(shared),
  };
}
