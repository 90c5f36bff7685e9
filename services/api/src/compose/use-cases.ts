import type { AuthEvent } from '@auth-account/contracts/events';
import type { RedisClient } from '@auth-account/redis';
import type { ReadDenialPage } from '@auth-account/redis/denial-pages';
import type { RunTransaction, Stores } from '@auth-account/stores';
import { createAuditLog, createAuditSampler, type Logger } from '@auth-account/telemetry';
import type { Announcement, IsDenied } from '../announcements/announce.ts';
import type { TellSessions } from '../announcements/tell-sessions.ts';
import { type Audit, createAudit } from '../audit/audit.ts';
import { countAuditEvents } from '../audit/audit-counters.ts';
import type { RequestCode } from '../codes/request-code.ts';
import type { ApiConfig } from '../config.ts';
import { createOpenIdempotent } from '../idempotency/open-idempotent.ts';
import { createLimits, type Limits } from '../limits/limits.ts';
import { systemIds as ids } from '../request/ids.ts';
import type { ServerSecrets } from '../security/server-secrets.ts';
import { createAcceptInvite } from '../usecases/accept-invite.ts';
import { createAssertEmailVerified } from '../usecases/assert-email-verified.ts';
import { createAuthenticate } from '../usecases/authenticate.ts';
import { createChangeAccount } from '../usecases/change-account.ts';
import { createChangeGroup } from '../usecases/change-group.ts';
import { createChangePassword } from '../usecases/change-password.ts';
import { createCreateInvite } from '../usecases/create-invite.ts';
import { createEndSessions } from '../usecases/end-sessions.ts';
import { createExportAccount } from '../usecases/export-account.ts';
import { createFindAccount } from '../usecases/find-account.ts';
import { createFindCurrentGroup } from '../usecases/find-current-group.ts';
import { createFindInvite } from '../usecases/find-invite.ts';
import { createHandOverGroup } from '../usecases/hand-over-group.ts';
import { createIssueTokens } from '../usecases/issue-tokens.ts';
import { createLeaveGroup } from '../usecases/leave-group.ts';
import { createListInvites } from '../usecases/list-invites.ts';
import { createListSessions } from '../usecases/list-sessions.ts';
import { createLogIn } from '../usecases/log-in.ts';
import { createLogOut } from '../usecases/log-out.ts';
import { createLogOutAll } from '../usecases/log-out-all.ts';
import { presentUsers } from '../usecases/present-users.ts';
import { createReadRevocations } from '../usecases/read-revocations.ts';
import { createReauthenticate } from '../usecases/reauthenticate.ts';
import { createRefresh } from '../usecases/refresh.ts';
import { createRegister } from '../usecases/register.ts';
import { createRemoveMember } from '../usecases/remove-member.ts';
import { createRenameGroup } from '../usecases/rename-group.ts';
import { createRestoreAccount } from '../usecases/restore-account.ts';
import { createRevokeInvite } from '../usecases/revoke-invite.ts';
import { createRevokeSession } from '../usecases/revoke-session.ts';
import { createSpaces } from '../usecases/spaces.ts';
import { codeUseCases } from './code-use-cases.ts';
import { createLimitWrites } from './limit-writes.ts';
import type { ApiMetrics } from './metrics.ts';
import type { Security } from './security.ts';

export interface GuardParts {
  readonly config: ApiConfig;
  readonly logger: Logger;
  readonly metrics: ApiMetrics;
  /** A connection that fails fast, because every login waits for it. */
  readonly redis: RedisClient;
  readonly secrets: ServerSecrets;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Audit log and rate limits, which the use cases share. */
export interface Guards {
  readonly audit: Audit;
  readonly limits: Limits;
  /** Writes what the audit log still holds back. */
  readonly flushAudit: () => void;
}

export interface UseCaseParts extends Pick<Guards, 'audit' | 'limits'> {
  readonly config: ApiConfig;
  readonly stores: Stores;
  /** Shared by all use cases, so that those which change the same group take turns. */
  readonly transaction: RunTransaction;
  readonly security: Security;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly tellSessions: TellSessions;
  readonly isDenied: IsDenied;
  readonly readDenialPage: ReadDenialPage;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly metrics: ApiMetrics;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type UseCases = ReturnType<typeof composeUseCases>;

export function composeGuards({ config, logger, metrics, redis, secrets, now }: GuardParts): Guards {
  const write = createAuditLog(logger);
  const sampler = createAuditSampler(write);
  const audit = createAudit({ write, sampler, count: countAuditEvents(metrics) });
  const limits = createLimits({
    redis,
    keyPrefix: config.KEY_PREFIX,
    secret: () => secrets()[0],
    settings: config,
    onRefused: (reason, origin) => audit({ event: 'limit.exceeded', reason }, origin),
    now,
    onInsured: () => metrics.loginsInsured.inc(),
  });
  return { audit, limits, flushAudit: sampler.flush };
}

/** Gives each use case the dependencies that it names. */
export function composeUseCases(parts: UseCaseParts) {
  const shared = sharedParts(parts);
  const { hasher, emailCodes: codes, emailChangeTokens } = parts.security;
  const { publishEvent, config } = parts;
  const graceDays = config.ACCOUNT_DELETION_GRACE_DAYS;
  const withCodes = codeUseCases({ ...shared, hasher, codes, emailChangeTokens, publishEvent, graceDays });
  return {
    ...accountUseCases(parts, { ...shared, requestCode: withCodes.requestCode }),
    ...withCodes,
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

function sharedParts({ config, stores, transaction, security, announce, isDenied, limits, audit, now }: UseCaseParts) {
  const date = () => new Date(now());
  const { idempotency: store, ...nouns } = stores;
  return {
    ...nouns,
    users: presentUsers(stores.users, date),
    transaction,
    announce,
    isDenied,
    limits,
    audit,
    ids,
    openIdempotent: createOpenIdempotent({ store, secrets: security.serverSecrets, now: date }),
    maxGroupMembers: config.MAX_GROUP_MEMBERS,
    now: date,
  };
}

function accountUseCases(
  { config, security, publishEvent, tellSessions, metrics }: UseCaseParts,
  parts: SharedParts & { readonly requestCode: RequestCode },
) {
  const { hasher, refreshTokens, signAccessToken } = security;
  const lifetime = {
    idleSeconds: config.REFRESH_TOKEN_IDLE_SECONDS,
    absoluteSeconds: config.REFRESH_TOKEN_ABSOLUTE_SECONDS,
  };
  const retryWindowMs = config.REFRESH_RETRY_WINDOW * 1_000;
  const issueTokens = createIssueTokens({
    signAccessToken,
    refreshTokens,
    accessTokenTtlSeconds: config.ACCESS_TOKEN_TTL_SECONDS,
    pushPublicUrl: config.PUSH_PUBLIC_URL,
    now: parts.now,
  });
  const shared = { ...parts, hasher, refreshTokens, issueTokens, lifetime, publishEvent };
  const fresh = { ...shared, reauthenticate: createReauthenticate(shared), endSessions: createEndSessions(shared) };
  const isRequired = config.REQUIRE_VERIFIED_EMAIL;
  const assertEmailVerified = createAssertEmailVerified({ ...shared, isRequired });
  const limited = createLimitWrites(parts.limits);
  return {
    register: createRegister({
      ...shared,
      spaces: createSpaces(shared),
      onEnd: (mode, outcome) => metrics.registrations.inc({ mode, outcome }),
    }),
    findAccount: createFindAccount(shared),
    changeAccount: limited(createChangeAccount(shared)),
    exportAccount: createExportAccount(fresh),
    changePassword: createChangePassword(fresh),
    restoreAccount: createRestoreAccount({ ...shared, authenticate: createAuthenticate(shared), tellSessions }),
    logIn: createLogIn({ ...shared, assertEmailVerified, tellSessions }),
    refresh: createRefresh({ ...shared, retryWindowMs }),
    logOut: createLogOut(shared),
    logOutAll: limited(createLogOutAll(shared)),
    listSessions: createListSessions(shared),
    revokeSession: limited(createRevokeSession(shared)),
  };
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
