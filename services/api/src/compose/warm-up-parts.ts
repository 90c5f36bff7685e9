import type { LoginRequest } from '@auth-account/contracts/http/login';
import type { UserStore } from '@auth-account/stores';
import type { Express } from 'express';
import { type AppDeps, createApp } from '../app.ts';
import { contextOf } from '../http/request-context.ts';
import type { HashTurn, PasswordHasher } from '../security/password-hasher.ts';
import { type Authenticate, createAuthenticate } from '../usecases/proofs/check-password.ts';

export interface WarmUpParts {
  readonly deps: AppDeps;
  readonly users: Pick<UserStore, 'findByEmail'>;
  /** Reads in a transaction, as a login does. */
  readonly readSessions: () => Promise<unknown>;
}

/**
 * Creates the app for the warm-up. It is the api's own, except that its login reads the stores as usual and then
 * refuses. It counts nothing in limits and metrics, writes no access or audit log, and queues no hash. Faults are
 * logged.
 */
export function composeWarmUp({ deps, users, readSessions }: WarmUpParts): Express {
  const quiet = () => undefined;
  const { logger } = deps;
  const authenticate = createRefusal(users);
  return createApp({
    ...deps,
    logger: logger.child({}, { level: logger.level === 'silent' ? 'silent' : 'error' }),
    audit: quiet,
    requestDuration: { observe: quiet },
    onMissingKey: quiet,
    handlers: {
      ...deps.handlers,
      async logIn(req, res) {
        await readSessions();
        const body: LoginRequest = req.body;
        await authenticate(body, contextOf(res));
      },
    },
  });
}

/** Checks a password that is always wrong, without a hash and without limits. */
function createRefusal(users: Pick<UserStore, 'findByEmail'>): Authenticate {
  const nothing = async () => undefined;
  const turn: HashTurn = { hash: async () => '', verify: async () => false };
  const hasher: PasswordHasher = { admit: (_client, use) => use(turn), unusableHash: () => '', isWeak: () => false };
  return createAuthenticate({
    users: { findByEmail: users.findByEmail, setPasswordHash: nothing },
    hasher,
    limits: { logIn: async () => ({ fail: async () => ({ isLast: false }), succeed: nothing }) },
    warnOfGuesses: nothing,
    audit: () => undefined,
  });
}
