import type { RegisteredEvent } from '@auth-account/contracts';
import {
  collectionsOf,
  createGroupStore,
  createIdempotencyStore,
  createInviteStore,
  createOutboxStore,
  createSessionStore,
  createUserStore,
  type RunTransaction,
} from '@auth-account/stores';
import type { MongoClient } from 'mongodb';
import type { Announcement } from '../announcements/announce.ts';
import type { IsDenied } from '../announcements/announce-again.ts';
import type { ApiConfig } from '../config.ts';
import { createOpenIdempotent } from '../idempotency/open-idempotent.ts';
import { systemIds as ids } from '../request/ids.ts';
import { createIssueTokens } from '../usecases/issue-tokens.ts';
import { createListSessions } from '../usecases/list-sessions.ts';
import { createLogIn } from '../usecases/log-in.ts';
import { createLogOut } from '../usecases/log-out.ts';
import { createLogOutAll } from '../usecases/log-out-all.ts';
import { createRefresh } from '../usecases/refresh.ts';
import { createRegister } from '../usecases/register.ts';
import { createRevokeSession } from '../usecases/revoke-session.ts';
import { createSpaces } from '../usecases/spaces.ts';
import { countRegistrations } from './count-registrations.ts';
import type { Guards } from './guards.ts';
import type { ApiMetrics } from './metrics.ts';
import type { Security } from './security.ts';

export interface UseCaseParts extends Guards {
  readonly config: ApiConfig;
  readonly mongo: MongoClient;
  /** One for all use cases: those that want the same group take turns in it. */
  readonly transaction: RunTransaction;
  readonly security: Security;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly publishEvent: (event: RegisteredEvent) => void;
  readonly metrics: ApiMetrics;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Gives every use case the few things that it names. */
export function composeUseCases(parts: UseCaseParts) {
  const { config, mongo, transaction, security, announce, isDenied, publishEvent, metrics, limits, audit } = parts;
  const now = () => new Date(parts.now());
  const { hasher, refreshTokens, signAccessToken } = security;
  const collections = collectionsOf(mongo.db(config.MONGODB_DATABASE));
  const users = createUserStore(collections);
  const sessions = createSessionStore(collections);
  const outbox = createOutboxStore(collections);

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
    now,
  });

  const spaces = createSpaces({
    groups: createGroupStore(collections),
    invites: createInviteStore(collections),
    maxGroupMembers: config.MAX_GROUP_MEMBERS,
    ids,
    now,
  });
  const openIdempotent = createOpenIdempotent({
    store: createIdempotencyStore(collections),
    secrets: security.serverSecrets,
    now,
  });
  const shared = { users, sessions, transaction, announce, isDenied, limits, audit, now };
  const register = createRegister({ ...shared, spaces, outbox, openIdempotent, hasher, publishEvent, ids });
  return {
    register: countRegistrations(metrics.registrations, register),
    logIn: createLogIn({ ...shared, hasher, refreshTokens, issueTokens, lifetime, ids }),
    refresh: createRefresh({ ...shared, refreshTokens, issueTokens, lifetime, retryWindowMs }),
    logOut: createLogOut({ ...shared, refreshTokens }),
    logOutAll: createLogOutAll(shared),
    listSessions: createListSessions(shared),
    revokeSession: createRevokeSession(shared),
  };
}
