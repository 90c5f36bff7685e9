import { randomBytes } from 'node:crypto';
import { disturbing, visible } from '@auth-account/contracts/http/fields';
import { LoginRequest, type TokenResponse } from '@auth-account/contracts/http/login';
import { AppError } from '@auth-account/errors';
import type { SessionStore, SessionSummary, UserStore } from '@auth-account/stores';
import type { RequestMark, SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { hasSameCredentials } from '@auth-account/stores/users';
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
  readonly users: AuthenticateDeps['users'] & Pick<UserStore, 'touchLogin'>;
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
  const { users, sessions, commit, issueTokens, assertEmailVerified, audit, ids, now } = deps;
  const authenticate = createAuthenticate(deps);
  const findOpened = createFindOpened(deps);

  return async (input, origin) => {
    const { requestId } = origin;
    const sentId = input.device_id?.toLowerCase();
    const deviceId = sentId ?? ids.deviceId();
    const seen = await authenticate({ ...input, deviceId: sentId }, origin);
    const { _id: userId } = seen;
    await assertEmailVerified(seen, sentId, origin);
    const at = now();
    let sessionId = '';
    const nonce = randomBytes(32);
    const device = knownAs(input);
    const learned = learnedDevice(seen, device, at);
    const marks = marksOf(deps, userId, input, origin);
    let endsSome = false;

    const work = async (transactionSession: ClientSession): Promise<Opened> => {
      // Every login writes the user's document, and so does every change that revokes or moves all of a user's
      // sessions, so that neither misses the other.
      const user = await users.touchLogin(userId, at, transactionSession, learned);
      // The verified password must not open a session after it has been replaced.
      if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
      assertMayLogIn(user);
      const live = await sessions.listLive(userId, transactionSession);
      const opened = await findOpened(openedBy(marks, live, at), transactionSession);
      if (opened !== undefined) return opened;
      const ended = endedByLogin(user, live, deviceId);
      endsSome = ended.length > 0;
      for (const { reason, sessionIds } of ended) {
        await sessions.revokeAll(sessionIds, { reason, at, requestId }, transactionSession);
      }
      // Apps compare ids to see which of a device's two logins is valid, so this session's id is the greatest.
      const replaced = live.flatMap((each) => (each.device_id === deviceId ? each._id : []));
      sessionId = ids.entityId(replaced.toSorted().at(-1));
      const session = newSession(deps, { user, sessionId, deviceId, nonce, at, input, requestId, marks });
      await sessions.insert(session, transactionSession);
      const login = { user, device, at, session, live, ended: ended.flatMap((each) => each.sessionIds) };
      const succeeded = { event: 'login.succeeded', user_id: userId, session_id: sessionId } as const;
      const notice = newDeviceNotice(deps, login, origin);
      return { session, isReplayed: false, ...notice, audit: [succeeded], sessions: ended };
    };
    const { session, isReplayed } = await commit(
      {
        at,
        // The hold is only for sessions that end. It does not keep simultaneous logins from conflicting in the user's
        // document.
        hold: sessions.holdOf(() => (endsSome ? [userId] : []), now),
        isCommitted: () => sessions.exists(sessionId),
        // An app that has given up logs in again. This session must not replace the new one.
        ifClientLeft: 'abort',
        work,
      },
      origin,
    ).catch((error: unknown) => {
      const reason = loginRefusalOf(error);
      if (reason !== undefined) audit({ event: 'login.refused', user_id: userId, reason }, origin);
      throw error;
    });
    return { data: issueTokens(session), isReplayed };
  };
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
  readonly deviceId: string;
  readonly nonce: Buffer;
  readonly at: Date;
  readonly input: LoginRequest;
  readonly requestId: string;
  readonly marks: readonly RequestMark[];
}

function newSession({ refreshTokens, lifetime }: LogInDeps, parts: NewSession): SessionDocument {
  const { user, sessionId, deviceId, nonce, at, input, requestId, marks } = parts;
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
    created_request_id: requestId,
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
