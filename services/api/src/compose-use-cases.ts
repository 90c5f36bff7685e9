import type { RegisteredEvent } from '@auth-account/contracts';
import {
  collectionsOf,
  createGroupStore,
  createInviteStore,
  createOutboxStore,
  createSessionStore,
  createUserStore,
  type RunTransaction,
  runTransaction,
} from '@auth-account/stores';
import type { MongoClient } from 'mongodb';
import type { Security } from './compose-security.ts';
import type { ApiConfig } from './config.ts';
import type { AuthUseCases } from './http/auth.routes.ts';
import { systemIds as ids } from './ids.ts';
import type { ApiMetrics } from './metrics.ts';
import type { Announcement } from './push/announce-revocations.ts';
import { createIssueTokens } from './usecases/issue-tokens.ts';
import { createLogIn } from './usecases/log-in.ts';
import { createLogOut } from './usecases/log-out.ts';
import { createRefresh } from './usecases/refresh.ts';
import { createRegister } from './usecases/register.ts';

export interface UseCaseParts {
  readonly config: ApiConfig;
  readonly mongo: MongoClient;
  readonly security: Security;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly beginHandOver: (event: RegisteredEvent) => void;
  readonly metrics: ApiMetrics;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Gives every use case the few things that it names. */
export function composeUseCases(parts: UseCaseParts): AuthUseCases {
  const { config, mongo, security, announce, beginHandOver, metrics } = parts;
  const now = () => new Date(parts.now());
  const { hasher, refreshTokens, signAccessToken } = security;
  const collections = collectionsOf(mongo.db(config.MONGODB_DATABASE));
  const users = createUserStore(collections);
  const sessions = createSessionStore(collections);
  const groups = createGroupStore(collections);
  const invites = createInviteStore(collections);
  const outbox = createOutboxStore(collections);

  const onRetry = (kind: 'work' | 'commit') => metrics.transactionRetries.inc({ kind });
  const transaction: RunTransaction = (work, options) => runTransaction(mongo, work, { ...options, onRetry });
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

  return {
    register: createRegister({ users, groups, invites, outbox, transaction, hasher, beginHandOver, ids, now }),
    logIn: createLogIn({
      users,
      sessions,
      transaction,
      hasher,
      refreshTokens,
      issueTokens,
      announce,
      lifetime,
      ids,
      now,
    }),
    refresh: createRefresh({ sessions, refreshTokens, issueTokens, announce, lifetime, retryWindowMs, now }),
    logOut: createLogOut({ sessions, refreshTokens, announce, now }),
  };
}
