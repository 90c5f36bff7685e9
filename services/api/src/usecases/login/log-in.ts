import { randomBytes } from 'node:crypto';
import { disturbing, visible } from '@auth-account/contracts/http/fields';
import { LoginRequest, type TokenResponse } from '@auth-account/contracts/http/login';
import { AppError } from '@auth-account/errors';
import {
  isDuplicateKey,
  liveDeviceIndex,
  type SessionStore,
  type SessionSummary,
  type UserStore,
} from '@auth-account/stores';
import type { RequestMark, SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { hasSameCredentials, mostLiveSessions } from '@auth-account/stores/users';
import { type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import { Binary, type ClientSession } from 'mongodb';
import { type Commit, type EndedSessions, none, type Outcome } from '../../announcements/commit.ts';
import { canonicalBody, hasSameBody, idempotentForMs, type OpenIdempotent } from '../../idempotency/open-idempotent.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import { hashesAhead } from '../sessions/hashes-ahead.ts';
import type { IssueTokens } from '../sessions/issue-tokens.ts';
import { newExpiry, type SessionLifetime } from '../sessions/session-lifetime.ts';
import type { AssertEmailVerified } from './assert-email-verified.ts';
import { assertMayLogIn, loginRefusalOf } from './assert-may-log-in.ts';
import { type AuthenticateDeps, createAuthenticate } from './authenticate.ts';
import { knownAs, learnedDevice, newDeviceNotice } from './new-device.ts';

export interface LogInDeps extends AuthenticateDeps {
  readonly users: AuthenticateDeps['users'] & Pick<UserStore, 'touchLogin' | 'noteLive'>;
  readonly sessions: Pick<SessionStore, 'exists' | 'find' | 'listLive' | 'revokeAll' | 'insert' | 'holdOf'>;
  readonly commit: Commit;
  readonly openIdempotent: OpenIdempotent;
  readonly refreshTokens: Pick<RefreshTokens, 'issue' | 'currentKid' | 'hasKey' | 'rereadKeys'>;
  readonly issueTokens: IssueTokens;
  readonly assertEmailVerified: AssertEmailVerified;
  readonly lifetime: SessionLifetime;
  readonly ids: Ids;
  readonly now: () => Date;
}

export interface LogInOutput {
  readonly data: TokenResponse['data'];
  /** True if an earlier login with the same `Idempotency-Key` opened the session. */
  readonly isReplayed: boolean;
}

/** Outcome of a login. */
interface Opened extends Outcome {
  readonly session: SessionDocument;
  /** True if an earlier login with the same `Idempotency-Key` has opened the session. */
  readonly isReplayed: boolean;
}

/**
 * Limit for the live sessions of one user. Above it, the session unused for longest ends
 * (docs/specification/login-and-tokens.md, "Login").
 */
const sessionLimit = 50;

/**
 * Logs a user in (docs/specification/login-and-tokens.md, "Login"). There is one session per user and device. While the
 * session lives, a repeat with the same `Idempotency-Key` gets the session's newest token pair, because a request that
 * the network repeats must not replace the app's session.
 *
 * Raises the errors of {@link createAuthenticate}. If the password is right, it can also raise the errors of
 * {@link assertMayLogIn} and {@link AssertEmailVerified}, and `ERR-IDEMPOTENCY-KEY-REUSED`. No session is opened if the
 * service notices before the commit that the client has left.
 */
export function createLogIn(deps: LogInDeps): (input: LoginRequest, origin: RequestOrigin) => Promise<LogInOutput> {
  const { sessions, commit, issueTokens, assertEmailVerified, audit, ids, now } = deps;
  const authenticate = createAuthenticate(deps);
  const open = createOpen(deps);

  return async (input, origin) => {
    const sentId = input.device_id?.toLowerCase();
    const seen = await authenticate({ ...input, deviceId: sentId }, origin);
    const { _id: userId } = seen;
    await assertEmailVerified(seen, sentId, origin);
    const at = now();
    const deviceId = sentId ?? ids.deviceId();
    const marks = marksOf(deps, userId, input, origin);
    const login = { seen, input, origin, deviceId, marks, nonce: randomBytes(32), at };
    const progress: Progress = { sessionId: '', endsSome: false, isDeviceTaken: false };
    const commitOnce = () =>
      commit(
        {
          at,
          // The hold is only for sessions that end. It does not keep simultaneous logins from conflicting in the user's
          // document.
          hold: sessions.holdOf(() => (progress.endsSome ? [userId] : []), now),
          isCommitted: () => sessions.exists(progress.sessionId),
          // An app that has given up logs in again. This session must not replace the new one.
          ifClientLeft: 'abort',
          work: (transactionSession) => open(login, progress, transactionSession),
        },
        origin,
      );
    const { session, isReplayed } = await commitOnce()
      .catch((error: unknown) => {
        if (!isDuplicateKey(error, liveDeviceIndex)) throw error;
        progress.isDeviceTaken = true;
        return commitOnce();
      })
      .catch((error: unknown) => {
        const reason = loginRefusalOf(error);
        if (reason !== undefined) audit({ event: 'login.refused', user_id: userId, reason }, origin);
        throw error;
      });
    return { data: issueTokens(session), isReplayed };
  };
}

/** A login whose password is right. */
interface VerifiedLogin {
  /** The account as the check of the password has read it. */
  readonly seen: UserDocument;
  readonly input: LoginRequest;
  readonly origin: RequestOrigin;
  readonly deviceId: string;
  /** Marks of the request. */
  readonly marks: readonly RequestMark[];
  readonly nonce: Buffer;
  readonly at: Date;
}

/** State of a login, which its transaction changes each time that it runs. */
interface Progress {
  sessionId: string;
  /** True if the login ends sessions. */
  endsSome: boolean;
  /** True if the insert has met a live session of the device. */
  isDeviceTaken: boolean;
}

/** Creates the work of a login's transaction. */
function createOpen(deps: LogInDeps) {
  const { users, sessions, ids } = deps;
  const findOpened = createFindOpened(deps);

  return async (login: VerifiedLogin, progress: Progress, transactionSession: ClientSession): Promise<Opened> => {
    const { seen, input, origin, deviceId, marks, at } = login;
    const device = knownAs(input);
    // Every login writes the user's document, and so does every change that revokes or moves all of a user's sessions,
    // so that neither misses the other.
    const user = await users.touchLogin(seen._id, at, transactionSession, learnedDevice(seen, device, at));
    // The verified password must not open a session after it has been replaced.
    if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
    assertMayLogIn(user);
    const looks = progress.isDeviceTaken || mustLook(user, device, marks, at);
    const live = looks ? await sessions.listLive(user._id, transactionSession) : none;
    const opened = await findOpened(openedBy(marks, live, at), transactionSession);
    if (opened !== undefined) return opened;
    const ended = endedByLogin(user, live, deviceId);
    progress.endsSome = ended.length > 0;
    for (const { reason, sessionIds } of ended) {
      await sessions.revokeAll(sessionIds, { reason, at, requestId: origin.requestId }, transactionSession);
    }
    // Apps compare ids to see which of a device's two logins is valid, so this session's id is the greatest.
    const replaced = live.flatMap((each) => (each.device_id === deviceId ? each._id : []));
    const sessionId = ids.entityId(replaced.toSorted().at(-1));
    progress.sessionId = sessionId;
    const session = newSession(deps, login, { user, sessionId });
    await sessions.insert(session, transactionSession);
    const endedIds = ended.flatMap(({ sessionIds }) => sessionIds);
    const count = live.length + 1 - endedIds.length;
    if (isWorthNoting(user, count)) await users.noteLive(user, count, transactionSession);
    const notice = newDeviceNotice(deps, { user, device, at, session, live, ended: endedIds }, origin);
    const succeeded = { event: 'login.succeeded', user_id: user._id, session_id: sessionId } as const;
    return { session, isReplayed: false, ...notice, audit: [succeeded], sessions: ended };
  };
}

/**
 * Returns true if the login must read the account's live sessions: an earlier request with the same key may have opened
 * one of them, their apps may need a notice of a new device, or there may be too many. Otherwise only the device's own
 * session matters, and the insert detects that session by the unique index.
 */
function mustLook(user: UserDocument, device: string, marks: readonly RequestMark[], at: Date): boolean {
  const { known_devices, last_login_at } = user;
  const mayBeRepeat =
    marks.length > 0 && last_login_at !== undefined && last_login_at.getTime() + idempotentForMs > at.getTime();
  return mayBeRepeat || !known_devices?.includes(device) || mayBeFull(user);
}

function mayBeFull(user: UserDocument): boolean {
  return mostLiveSessions(user) >= sessionLimit;
}

/**
 * Returns true if a login that has read the `count` live sessions should store this number. That is worth a write only
 * if at least two later logins then need not read the sessions.
 */
function isWorthNoting(user: UserDocument, count: number): boolean {
  return mayBeFull(user) && count + 2 <= sessionLimit;
}

/** Creates the function that finds the session that an earlier login with the same `Idempotency-Key` has opened. */
function createFindOpened(deps: LogInDeps) {
  const awaitKey = createAwaitKey(deps.refreshTokens, deps.now);
  return async (sessionId: string | undefined, transactionSession: ClientSession): Promise<Opened | undefined> => {
    const session = sessionId === undefined ? undefined : await deps.sessions.find(sessionId, transactionSession);
    if (session === undefined) return;
    await awaitKey(session);
    const verified = { event: 'login.verified', user_id: session.user_id, session_id: session._id } as const;
    return { session, isReplayed: true, events: none, audit: [verified], sessions: none };
  };
}

/** Returns the marks of the request; none if it has no key. The marks ignore the password, because it was verified. */
function marksOf(
  { openIdempotent }: LogInDeps,
  caller: string,
  { email: _email, password: _password, ...rest }: LoginRequest,
  { idempotencyKey: key }: RequestOrigin,
): readonly RequestMark[] {
  return openIdempotent({ route: 'login', caller, key, body: canonicalBody(LoginRequest, rest) }).marks;
}

/**
 * Returns the live session that was opened with that key. Raises `ERR-IDEMPOTENCY-KEY-REUSED` if that login had another
 * body.
 */
function openedBy(marks: readonly RequestMark[], live: readonly SessionSummary[], at: Date): string | undefined {
  const isKnown = ({ _id }: RequestMark) => marks.some((mark) => mark._id === _id);
  const earlier = live.find(
    ({ opened_by = [], created_at, expires_at }) =>
      opened_by.some(isKnown) && expires_at > at && created_at.getTime() + idempotentForMs > at.getTime(),
  );
  if (earlier?.opened_by && !hasSameBody(marks, earlier.opened_by)) throw new AppError('ERR-IDEMPOTENCY-KEY-REUSED');
  return earlier?._id;
}

/**
 * Returns the sessions that a login on this device ends: the device's previous session, and sessions above the limit.
 * In `live` the session unused for longest comes first.
 */
function endedByLogin({ _id: userId }: UserDocument, live: readonly SessionSummary[], deviceId: string) {
  const replaced = live.filter((session) => session.device_id === deviceId);
  const others = live.filter((session) => session.device_id !== deviceId);
  const tooMany = others.slice(0, Math.max(0, others.length + 1 - sessionLimit));
  const groups: EndedSessions[] = [
    { userId, reason: 'replaced', sessionIds: replaced.map(({ _id }) => _id) },
    { userId, reason: 'session_limit', sessionIds: tooMany.map(({ _id }) => _id) },
  ];
  return groups.filter(({ sessionIds }) => sessionIds.length > 0);
}

interface NewSession {
  readonly user: UserDocument;
  readonly sessionId: string;
}

function newSession(
  { refreshTokens, lifetime }: LogInDeps,
  { deviceId, nonce, at, input, origin, marks }: VerifiedLogin,
  { user, sessionId }: NewSession,
): SessionDocument {
  const kid = refreshTokens.currentKid;
  const gen = 1;
  const token = { kid, sessionId, generation: gen };
  return {
    _id: sessionId,
    token: refreshTokenHash(refreshTokens.issue(token, nonce)),
    ahead: hashesAhead(refreshTokens, token, nonce),
    user_id: user._id,
    is_revoked: false,
    nonce: new Binary(nonce),
    kid,
    gen,
    parent: 0,
    floor: 0,
    handed_out_at: at,
    claims: { home_group_id: user.home_group_id, account_type: user.account_type, ver: 1 },
    device_id: deviceId,
    device_name: deviceNameOf(input.device_name),
    platform: input.platform ?? null,
    created_at: at,
    created_request_id: origin.requestId,
    ...(marks.length > 0 && { opened_by: marks }),
    last_used_at: at,
    ...newExpiry(at, lifetime),
  };
}

const disturbance = new RegExp(`[${disturbing}]`, 'gu');
const anyVisible = new RegExp(visible, 'u');

/** Returns the name of the device in a form that is safe to show to others; null if it has no visible character. */
function deviceNameOf(given = ''): string | null {
  const name = given.replace(disturbance, '');
  return anyVisible.test(name) ? name : null;
}
