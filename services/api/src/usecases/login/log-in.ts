import { randomBytes } from 'node:crypto';
import { disturbing, visible } from '@auth-account/contracts/http/fields';
import { LoginRequest, type TokenResponse } from '@auth-account/contracts/http/login';
import { AppError } from '@auth-account/errors';
import {
  closeReasonOf,
  type RunTransaction,
  type SessionStore,
  type SessionSummary,
  type UserStore,
} from '@auth-account/stores';
import type { RequestMark, RevocationReason, SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { hasSameCredentials } from '@auth-account/stores/users';
import { type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import { Binary, type ClientSession } from 'mongodb';
import type { Announcement } from '../../announcements/announce.ts';
import { canonicalBody, hasSameBody, idempotentForMs, type OpenIdempotent } from '../../idempotency/open-idempotent.ts';
import { assertClientConnected } from '../../request/assert-client-connected.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { type AwaitKeyDeps, createAwaitKey } from '../sessions/await-key.ts';
import { hashesAhead } from '../sessions/hashes-ahead.ts';
import type { IssueTokens } from '../sessions/issue-tokens.ts';
import { newExpiry, type SessionLifetime } from '../sessions/session-lifetime.ts';
import type { AssertEmailVerified } from './assert-email-verified.ts';
import { assertMayLogIn, loginRefusalOf } from './assert-may-log-in.ts';
import { type AuthenticateDeps, createAuthenticate } from './authenticate.ts';
import {
  createNewDeviceNotices,
  knownAs,
  learnedDevice,
  type NewDeviceDeps,
  type NewDeviceNotice,
} from './new-device.ts';

export interface LogInDeps extends AuthenticateDeps, NewDeviceDeps {
  readonly users: AuthenticateDeps['users'] & Pick<UserStore, 'touchLogin'>;
  readonly sessions: Pick<SessionStore, 'exists' | 'find' | 'listLive' | 'revokeAll' | 'insert' | 'holdOf'>;
  readonly transaction: RunTransaction;
  readonly openIdempotent: OpenIdempotent;
  readonly refreshTokens: Pick<RefreshTokens, 'issue' | 'currentKid'> & AwaitKeyDeps['refreshTokens'];
  readonly issueTokens: IssueTokens;
  readonly assertEmailVerified: AssertEmailVerified;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly lifetime: SessionLifetime;
  readonly ids: Ids;
  readonly now: () => Date;
}

export interface LogInOutput {
  readonly data: TokenResponse['data'];
  /** The session is that of an earlier login with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/** What the transaction of a login has done. */
interface Opened {
  readonly session: SessionDocument;
  /** The session was there: a login before this one, with the same `Idempotency-Key`, had opened it. */
  readonly isReplayed: boolean;
  readonly ended: readonly EndedByLogin[];
  readonly notice: NewDeviceNotice | undefined;
}

/**
 * Live sessions of one user. Above this the one unused for longest ends (docs/specification/login-and-tokens.md,
 * "Login").
 */
const sessionLimit = 50;

/**
 * Logs a user in (docs/specification/login-and-tokens.md, "Login"): one session per user and device. A repeat with the
 * same `Idempotency-Key` gets the newest pair of the session that it has opened, while that lives: a network that
 * repeats a request must not replace the session that the app holds.
 *
 * Raises the errors of {@link createAuthenticate}, and with the right password those of {@link assertMayLogIn} and
 * {@link AssertEmailVerified}, and `ERR-IDEMPOTENCY-KEY-REUSED`. No session is opened if the client is seen to have left
 * before the commit.
 */
export function createLogIn(deps: LogInDeps): (input: LoginRequest, origin: RequestOrigin) => Promise<LogInOutput> {
  const { users, sessions, transaction, issueTokens, assertEmailVerified, audit, ids, now } = deps;
  const authenticate = createAuthenticate(deps);
  const newDevices = createNewDeviceNotices(deps);
  const awaitKey = createAwaitKey(deps);
  const report = createReport(deps);

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
      // Written by every login, and by all that revokes or moves by user, so that neither misses the other.
      const user = await users.touchLogin(userId, at, transactionSession, learned);
      // The password that was verified must not open a session after another one has taken its place.
      if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
      assertMayLogIn(user);
      const live = await sessions.listLive(userId, transactionSession);
      const earlierId = openedBy(marks, live, at);
      const earlier = earlierId && (await sessions.find(earlierId, transactionSession));
      if (earlier) return { session: earlier, isReplayed: true, ended: [], notice: undefined };
      const ended = endedByLogin(live, deviceId);
      endsSome = ended.length > 0;
      for (const { reason, ids: sessionIds } of ended) {
        await sessions.revokeAll(sessionIds, { reason, at, requestId }, transactionSession);
      }
      // Apps tell by the ids which of two logins of a device holds: that of this one is the greatest.
      const replaced = live.flatMap((each) => (each.device_id === deviceId ? each._id : []));
      sessionId = ids.entityId(replaced.toSorted().at(-1));
      const session = newSession(deps, { user, sessionId, deviceId, nonce, at, input, requestId, marks });
      await sessions.insert(session, transactionSession);
      const login = { user, device, at, session, live, ended: ended.flatMap((group) => group.ids) };
      const notice = await newDevices.append(login, origin, transactionSession);
      // An app that has given up logs in again: this session must not replace that one.
      assertClientConnected(origin);
      return { session, isReplayed: false, ended, notice };
    };
    // Logins at the same time conflict in the user's document, which no hold changes: it is for sessions that end.
    const hold = sessions.holdOf(() => (endsSome ? [userId] : []), now);
    const opened = await transaction(work, { isCommitted: () => sessions.exists(sessionId), hold }).catch(
      (error: unknown) => {
        const reason = loginRefusalOf(error);
        if (reason !== undefined) audit({ event: 'login.refused', user_id: userId, reason }, origin);
        throw error;
      },
    );
    if (opened.isReplayed) await awaitKey(opened.session);
    if (opened.notice !== undefined) newDevices.announce(opened.notice);
    await report(opened, at, origin);
    return { data: issueTokens(opened.session), isReplayed: opened.isReplayed };
  };
}

/** Creates the report of what a login has done: to the audit log, and to the streams of sessions that it has ended. */
function createReport({ announce, audit }: LogInDeps) {
  return async ({ session, isReplayed, ended }: Opened, at: Date, origin: RequestOrigin): Promise<void> => {
    const { user_id, _id } = session;
    audit({ event: isReplayed ? 'login.verified' : 'login.succeeded', user_id, session_id: _id }, origin);
    for (const { reason, ids } of ended) {
      for (const session_id of ids) audit({ event: 'session.revoked', user_id, session_id, reason }, origin);
    }
    const { requestId } = origin;
    await Promise.all(
      ended.map(({ reason, ids: sessionIds }) =>
        announce({ sessionIds, reason: closeReasonOf(reason), requestId, at }),
      ),
    );
  };
}

/** Returns the marks of the request; none if it has no key. The password is not part of its body: it was verified. */
function marksOf(
  { openIdempotent }: LogInDeps,
  caller: string,
  { email: _email, password: _password, ...rest }: LoginRequest,
  { idempotencyKey: key }: RequestOrigin,
): readonly RequestMark[] {
  return openIdempotent({ route: 'login', caller, key, body: canonicalBody(LoginRequest, rest) }).marks;
}

/** Returns the live session that was opened under that key. Raises `ERR-IDEMPOTENCY-KEY-REUSED` if it was for another. */
function openedBy(marks: readonly RequestMark[], live: readonly SessionSummary[], at: Date): string | undefined {
  const isKnown = ({ _id }: RequestMark) => marks.some((mark) => mark._id === _id);
  const earlier = live.find(
    ({ opened_by = [], created_at, expires_at }) =>
      opened_by.some(isKnown) && expires_at > at && created_at.getTime() + idempotentForMs > at.getTime(),
  );
  if (earlier?.opened_by && !hasSameBody(marks, earlier.opened_by)) throw new AppError('ERR-IDEMPOTENCY-KEY-REUSED');
  return earlier?._id;
}

interface EndedByLogin {
  readonly reason: RevocationReason;
  readonly ids: string[];
}

/**
 * Returns the sessions that a login on this device ends: the device's last one, and those above the limit. `live` is
 * oldest first.
 */
function endedByLogin(live: readonly SessionSummary[], deviceId: string): EndedByLogin[] {
  const replaced = live.filter((session) => session.device_id === deviceId);
  const others = live.filter((session) => session.device_id !== deviceId);
  const tooMany = others.slice(0, Math.max(0, others.length + 1 - sessionLimit));
  const groups: EndedByLogin[] = [
    { reason: 'replaced', ids: replaced.map(({ _id }) => _id) },
    { reason: 'session_limit', ids: tooMany.map(({ _id }) => _id) },
  ];
  return groups.filter((group) => group.ids.length > 0);
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

/** Returns the name of the device as strangers may read it; null if nothing of it can be seen. */
function deviceNameOf(given = ''): string | null {
  const name = given.replace(disturbance, '');
  return anyVisible.test(name) ? name : null;
}
