import { randomUUID } from 'node:crypto';
import { AuthError, type AuthEvent, type AuthState, type SignedOutReason } from '@auth-account/client';
import { createRandom } from '../../../model/simulate-refresh.ts';
import type { World } from '../load/app.ts';
import type { Registration } from '../load/ledger.ts';
import { never } from './app-life.ts';
import { type App, createPhone, type Phone } from './phone.ts';

/** Part of the world that users of the client touch. */
export type SdkWorld = Pick<World, 'history' | 'ledger' | 'apiPorts' | 'gatewayPorts'>;

/** Two users who may live together: the first one invites, the second one comes and goes. */
export interface Household {
  invite?: string | undefined;
}

/** Figures of one user. */
export interface SdkFigures {
  /** Sessions that a login has opened, and those of them that ended though nobody had asked for it. */
  sessions: number;
  lost: number;
  /** Logouts that the user asked for, and how many of them without a network. */
  signOuts: number;
  offline: number;
  kills: number;
  /** Calls that were answered, and those that failed for the moment. */
  answered: number;
  failed: number;
}

/** A user whose app uses the client and does one thing at a time. */
export interface SdkUser {
  readonly id: number;
  readonly world: SdkWorld;
  readonly random: () => number;
  readonly email: string;
  readonly password: string;
  readonly isHost: boolean;
  readonly household: Household;
  readonly phone: Phone;
  readonly figures: SdkFigures;
  /** Sessions that the user has logged out. */
  readonly loggedOut: Set<string>;
  registration: Registration | undefined;
  /** Undefined while the app is killed. */
  app: App | undefined;
  /** The session that the app had last. */
  sessionId: string | undefined;
  /** True from a logout to the next login. */
  wantsOut: boolean;
  /** True while a login has no answer: it may have replaced the session before. */
  isLoginUnsure: boolean;
}

export interface SdkUserOptions {
  readonly world: SdkWorld;
  readonly id: number;
  readonly seed: number;
  readonly isHost: boolean;
  readonly household: Household;
}

export function createSdkUser({ world, id, seed, isHost, household }: SdkUserOptions): SdkUser {
  const random = createRandom(seed * 1_000_003 + 500_000 + id);
  const { apiPorts, gatewayPorts } = world;
  const onEvent = (event: AuthEvent) => {
    if (event.type === 'signed_out') judgeEnd(user, event.reason);
  };
  const user: SdkUser = {
    id,
    world,
    random,
    email: `client-${id}-${randomUUID().slice(0, 8)}@example.com`,
    password: `secret of the client ${id}`,
    isHost,
    household,
    phone: createPhone({ apiPorts, gatewayPorts, random, onEvent }),
    figures: { sessions: 0, lost: 0, signOuts: 0, offline: 0, kills: 0, answered: 0, failed: 0 },
    loggedOut: new Set(),
    registration: undefined,
    app: undefined,
    sessionId: undefined,
    wantsOut: false,
    isLoginUnsure: false,
  };
  return user;
}

/** A session has ended: right if its user has logged out, or has perhaps replaced it by another login. */
function judgeEnd(user: SdkUser, reason: SignedOutReason): void {
  const { id, world, sessionId, wantsOut, isLoginUnsure, figures, loggedOut } = user;
  user.sessionId = undefined;
  if (reason === 'logged_out' && wantsOut) {
    if (sessionId !== undefined) loggedOut.add(sessionId);
    return;
  }
  if (reason === 'replaced' && isLoginUnsure) return;
  figures.lost += 1;
  world.history.violate('a user of the client was signed out who did not ask for it', { user: id, sessionId, reason });
}

/** Starts the app. It must be in the state in which it ended. */
export async function startApp(user: SdkUser): Promise<App> {
  const { phone, id, sessionId, world, wantsOut, isLoginUnsure } = user;
  const app = phone.start();
  user.app = app;
  const state = await app.auth.ready();
  const isIn = state.status === 'signed_in';
  if (sessionId !== undefined && state.status === 'signed_out') judgeEnd(user, state.reason);
  // A logout that was killed in the midst may have left the session, and a login may have stored one.
  const isOwn = isIn && (state.session.session_id === sessionId || wantsOut || isLoginUnsure);
  if (isIn && !isOwn) world.history.violate('an app came back with another session', { user: id, sessionId });
  if (isIn) {
    user.sessionId = state.session.session_id;
    user.loggedOut.delete(user.sessionId);
    user.wantsOut = false;
  }
  return app;
}

/** Kills the app, which may be in the midst of anything. */
export function killApp(user: SdkUser): void {
  user.phone.kill();
  user.app = undefined;
  user.figures.kills += 1;
}

export function stateOf(user: SdkUser): AuthState {
  return user.app?.auth.state() ?? { status: 'unknown' };
}

/** Codes with which a call may be refused for good, where that is the answer to the user's own doing. */
export type Excuses = ReadonlySet<string>;
const none: Excuses = new Set();
const overReactions: ReadonlySet<string> = new Set(['LOGIN', 'CLEAR_STORAGE_AND_LOGIN']);

/**
 * Does a call of the app. Undefined if it failed for the moment or with an excuse; a call that can never succeed breaks
 * a promise. Nothing follows on a call whose app was killed.
 */
export async function attempt<T>(
  user: SdkUser,
  app: App,
  what: string,
  work: (auth: App['auth']) => Promise<T>,
  excuses: Excuses = none,
): Promise<T | AuthError> {
  const { figures, world, phone, id } = user;
  const outcome = await work(app.auth).catch((error: unknown) => error as Error);
  if (!app.isAlive()) return never();
  if (!(outcome instanceof Error)) {
    figures.answered += 1;
    return outcome;
  }
  figures.failed += 1;
  phone.secrets.hear(outcome);
  const { code, status, requestId } = outcome as Partial<AuthError>;
  world.history.note('client call failed', { user: id, what, code, status, requestId });
  if (!(outcome instanceof AuthError)) {
    world.history.violate('a call of the client failed with something else than its own error', { user: id, what });
    return new AuthError('CLIENT_NETWORK');
  }
  // The end of a session is judged by its reason.
  const isOver = overReactions.has(outcome.reaction.type) && stateOf(user).status === 'signed_out';
  const isExcused = outcome.retry !== 'never' || isOver || excuses.has(outcome.code);
  if (!isExcused) world.history.violate('a call of the client was refused', { user: id, what, code, requestId });
  return outcome;
}
