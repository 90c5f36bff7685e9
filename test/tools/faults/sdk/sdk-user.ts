import { randomUUID } from 'node:crypto';
import { AuthError, type AuthEvent, type AuthState, type SignedOutReason } from '@auth-account/client';
import { createRandom } from '../../../model/simulate-refresh.ts';
import type { World } from '../load/app.ts';
import type { Registration } from '../load/ledger.ts';
import { type App, createPhone, never } from './phone.ts';

/** Two users who may live together. The first invites, and the second comes and goes. */
export interface Household {
  invite?: string | undefined;
}

/** Figures of a user, as the report names them. */
const figureNames = {
  sessions: 'sessions opened',
  lost: 'lost',
  signedIn: 'signed in at the end',
  bySecondFactor: 'logins by a second factor',
  byPasskey: 'by a passkey',
  refreshes: 'refreshes',
  signOuts: 'sign-outs asked for',
  offline: 'of them offline',
  kills: 'apps killed',
  answered: 'calls answered',
  failed: 'failed for the moment',
};
type FigureName = keyof typeof figureNames;
type SdkFigures = Record<FigureName, number>;

/** Returns figures, each of which is what `figureOf` returns for it. */
const figuresOf = (figureOf: (name: FigureName) => number) =>
  Object.fromEntries(Object.keys(figureNames).map((name) => [name, figureOf(name as FigureName)])) as SdkFigures;

/** Sums up the figures of users. */
export const sumFigures = (users: readonly SdkUser[]): SdkFigures =>
  figuresOf((name) => users.reduce((sum, { figures }) => sum + figures[name], 0));

/** Describes figures in a line. */
export const describeFigures = (figures: SdkFigures): string =>
  Object.entries(figureNames)
    .map(([name, text]) => `${figures[name as FigureName]} ${text}`)
    .join(', ');

/** A user whose app uses the client and does one thing at a time. */
export type SdkUser = ReturnType<typeof createSdkUser>;

/** Everything about a user that changes. */
interface State {
  registration?: Registration | undefined;
  /** True if an answer said that the account has the sign-in method. */
  hasSignInMethod: boolean;
  /** Seed of the user's latest authenticator app. */
  secret?: string | undefined;
  /** The latest step of the app whose code was sent. */
  lastStep: number;
  /** Undefined while the app is killed. */
  app?: App | undefined;
  /** The app's latest session. */
  sessionId?: string | undefined;
  /** True from a logout to the next login. */
  wantsOut: boolean;
  /** True while a login has no answer, so that it may have replaced the earlier session. */
  isLoginUnsure: boolean;
}

export interface SdkUserOptions {
  readonly world: World;
  readonly id: number;
  readonly seed: number;
  readonly isHost: boolean;
  readonly household: Household;
}

export function createSdkUser({ world, id, seed, isHost, household }: SdkUserOptions) {
  const random = createRandom(seed * 1_000_003 + 500_000 + id);
  const { apis, gateways } = world;
  const figures = figuresOf(() => 0);
  const onRefresh = () => {
    figures.refreshes += 1;
  };
  const onEvent = (event: AuthEvent): void => {
    if (event.type === 'signed_out') judgeEnd(user, event.reason);
  };
  const state: State = { hasSignInMethod: false, lastStep: 0, wantsOut: false, isLoginUnsure: false };
  const user = {
    ...{ id, world, random, isHost, household, figures },
    email: `client-${id}-${randomUUID().slice(0, 8)}@example.com`,
    password: `secret of the client ${id}`,
    phone: createPhone({ apis, gateways, random, onRefresh, onEvent, isBound: id % 4 < 2 }),
    /** The sign-in method that the user adds, or the password alone. */
    signInMethod: (['password', 'totp', 'passkey'] as const)[id % 3] ?? 'password',
    /** Sessions that the user has logged out. */
    loggedOut: new Set<string>(),
    ...state,
  };
  return user;
}

/** Judges the end of a session, which is right if its user has logged out, or may have replaced it by another login. */
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

/** Starts the app, which must be in the state in which it ended. */
export async function startApp(user: SdkUser): Promise<App> {
  const { phone, id, sessionId, world, wantsOut, isLoginUnsure } = user;
  const app = phone.start();
  user.app = app;
  const state = await app.auth.ready();
  const isIn = state.status === 'signed_in';
  if (sessionId !== undefined && state.status === 'signed_out') judgeEnd(user, state.reason);
  // A killed logout may have left the session, and a killed login may have stored one.
  const isOwn = isIn && (state.session.session_id === sessionId || wantsOut || isLoginUnsure);
  if (isIn && !isOwn) world.history.violate('an app came back with another session', { user: id, sessionId });
  if (isIn) {
    user.sessionId = state.session.session_id;
    user.loggedOut.delete(user.sessionId);
    user.wantsOut = false;
  }
  return app;
}

/** Kills the app, whatever it is doing. */
export function killApp(user: SdkUser): void {
  user.phone.kill();
  user.app = undefined;
  user.figures.kills += 1;
}

export function stateOf(user: SdkUser): AuthState {
  return user.app?.auth.state() ?? { status: 'unknown' };
}

const overReactions = ['LOGIN', 'CLEAR_STORAGE_AND_LOGIN'];

/**
 * Makes a call of the app. Returns the error if the call failed temporarily, or was refused with one of the `excuses`:
 * error codes that the user's own earlier actions explain. Any other refusal breaks a promise. The call of a killed app
 * never returns.
 */
export async function attempt<T>(
  user: SdkUser,
  app: App,
  what: string,
  work: (auth: App['auth']) => Promise<T>,
  excuses: readonly string[] = [],
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
  // The end of a session is judged by its reason elsewhere.
  const isOver = overReactions.includes(outcome.reaction.type) && stateOf(user).status === 'signed_out';
  const isExcused = outcome.retry !== 'never' || isOver || excuses.includes(outcome.code);
  if (!isExcused) world.history.violate('a call of the client was refused', { user: id, what, code, requestId });
  return outcome;
}
