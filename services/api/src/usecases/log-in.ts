import { randomBytes } from 'node:crypto';
import type { LoginRequest, TokenResponse } from '@auth-account/contracts/http/login';
import { AppError, isAppError, type ThrowableCode } from '@auth-account/errors';
import {
  closeReasonOf,
  type RunTransaction,
  type SessionStore,
  type SessionSummary,
  type UserStore,
} from '@auth-account/stores';
import type { RevocationReason, SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { hasSameCredentials } from '@auth-account/stores/users';
import { type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import { Binary, type ClientSession } from 'mongodb';
import type { Announcement } from '../announcements/announce.ts';
import type { Audit } from '../audit/audit.ts';
import type { LoginRefusal } from '../audit/events.ts';
import type { Limits } from '../limits/limits.ts';
import type { Ids } from '../request/ids.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { PasswordHasher } from '../security/password-hasher.ts';
import { assertClientConnected } from './assert-client-connected.ts';
import { assertMayLogIn } from './assert-may-log-in.ts';
import type { IssueTokens } from './issue-tokens.ts';
import { newExpiry, type SessionLifetime } from './session-lifetime.ts';

export interface LogInDeps {
  readonly users: Pick<UserStore, 'findByEmail' | 'touchLogin' | 'setPasswordHash'>;
  readonly sessions: Pick<SessionStore, 'exists' | 'listLive' | 'revokeAll' | 'insert'>;
  readonly transaction: RunTransaction;
  readonly hasher: PasswordHasher;
  readonly refreshTokens: Pick<RefreshTokens, 'issue' | 'currentKid'>;
  readonly issueTokens: IssueTokens;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly limits: Pick<Limits, 'logIn'>;
  readonly audit: Audit;
  readonly lifetime: SessionLifetime;
  readonly ids: Ids;
  readonly now: () => Date;
}

/** Live sessions of one user. Above this the one unused for longest ends (decisions, "Login"). */
const sessionLimit = 50;

/** Reasons for which the right password opens no session, as the audit log has them. */
const refusals: Partial<Readonly<Record<ThrowableCode, LoginRefusal>>> = {
  'ERR-INVALID-CREDENTIALS': 'credentials_changed',
  'ERR-ACCOUNT-DISABLED': 'account_disabled',
  'ERR-ACCOUNT-DELETION-SCHEDULED': 'deletion_scheduled',
};

/**
 * Logs a user in (decisions, "Login"): one session per user and device.
 *
 * Raises `ERR-INVALID-CREDENTIALS` for a wrong password and for an unknown address alike, after the same work,
 * `ERR-RATE-LIMITED` and `ERR-OVERLOADED`, and with the right password the errors of {@link assertMayLogIn}. No session is opened if the client is seen to have left before the commit.
 */
export function createLogIn(
  deps: LogInDeps,
): (input: LoginRequest, origin: RequestOrigin) => Promise<TokenResponse['data']> {
  const { users, sessions, transaction, issueTokens, announce, audit, ids, now } = deps;
  const authenticate = createAuthenticate(deps);

  return async (input, origin) => {
    const { requestId } = origin;
    const deviceId = input.device_id?.toLowerCase() ?? ids.groupId();
    const seen = await authenticate(input, deviceId, origin);
    const { _id: userId } = seen;
    const at = now();
    const sessionId = ids.entityId();
    const nonce = randomBytes(32);

    const work = async (transactionSession: ClientSession) => {
      // Written by every login, and by all that revokes or moves by user, so that neither misses the other.
      const user = await users.touchLogin(userId, at, transactionSession);
      // The password that was verified must not open a session after another one has taken its place.
      if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
      assertMayLogIn(user);
      const ended = endedByLogin(await sessions.listLive(userId, transactionSession), deviceId);
      for (const { reason, ids: sessionIds } of ended) {
        await sessions.revokeAll(sessionIds, { reason, at, requestId }, transactionSession);
      }
      const session = newSession(deps, { user, sessionId, deviceId, nonce, at, input, requestId });
      await sessions.insert(session, transactionSession);
      // An app that has given up logs in again: this session must not replace that one.
      assertClientConnected(origin);
      return { session, ended };
    };
    const opened = transaction(work, { isCommitted: () => sessions.exists(sessionId) });
    const { session, ended } = await opened.catch((error: unknown) => {
      const reason = isAppError(error) ? refusals[error.code] : undefined;
      if (reason !== undefined) audit({ event: 'login.refused', user_id: userId, reason }, origin);
      throw error;
    });

    audit({ event: 'login.succeeded', user_id: userId, session_id: sessionId }, origin);
    for (const { reason, ids: sessionIds } of ended) {
      for (const session_id of sessionIds)
        audit({ event: 'session.revoked', user_id: userId, session_id, reason }, origin);
    }
    await Promise.all(
      ended.map(({ reason, ids: sessionIds }) =>
        announce({ sessionIds, reason: closeReasonOf(reason), requestId, at }),
      ),
    );
    return issueTokens(session);
  };
}

/**
 * Creates the check of the password, behind the limits and the hash gate. It replaces a weak hash if the password is
 * right.
 */
function createAuthenticate({ users, hasher, limits, audit }: LogInDeps) {
  async function authenticate(
    { email, password }: LoginRequest,
    deviceId: string,
    origin: RequestOrigin,
  ): Promise<UserDocument> {
    const attempt = await limits.logIn({ email, deviceId }, origin);
    // Admission to the hash gate. A login that is shed here has not read the account yet.
    const { user, isRight } = await hasher.admit(origin, async (turn) => {
      const found = await users.findByEmail(email);
      return { user: found, isRight: await turn.verify(found?.password_hash, password) };
    });
    if (user === undefined || !isRight) {
      await attempt.fail();
      const reason = user === undefined ? 'unknown_account' : 'wrong_password';
      audit({ event: 'login.failed', user_id: user?._id, reason }, origin);
      throw new AppError('ERR-INVALID-CREDENTIALS');
    }
    await attempt.succeed();
    await rehash(user, password, origin);
    return user;
  }

  async function rehash(
    { _id, password_hash: stored }: UserDocument,
    password: string,
    origin: RequestOrigin,
  ): Promise<void> {
    if (!hasher.isWeak(stored)) return;
    try {
      const better = await hasher.admit(origin, (turn) => turn.hash(password));
      await users.setPasswordHash(_id, stored, better);
    } catch (error) {
      // The password was right. Under overload the better hash waits for the next login; this one succeeds.
      if (!isAppError(error) || error.code !== 'ERR-OVERLOADED') throw error;
    }
  }

  return authenticate;
}

/**
 * Returns the sessions that a login on this device ends: the device's last one, and those above the limit. `live` is
 * oldest first.
 */
function endedByLogin(live: readonly SessionSummary[], deviceId: string) {
  const replaced = live.filter((session) => session.device_id === deviceId);
  const others = live.filter((session) => session.device_id !== deviceId);
  const tooMany = others.slice(0, Math.max(0, others.length + 1 - sessionLimit));
  const groups: { reason: RevocationReason; ids: string[] }[] = [
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
}

function newSession({ refreshTokens, lifetime }: LogInDeps, parts: NewSession): SessionDocument {
  const { user, sessionId, deviceId, nonce, at, input, requestId } = parts;
  const kid = refreshTokens.currentKid;
  const gen = 1;
  return {
    _id: sessionId,
    token: refreshTokenHash(refreshTokens.issue({ kid, sessionId, generation: gen }, nonce)),
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
    device_name: input.device_name || null,
    platform: input.platform ?? null,
    created_at: at,
    created_request_id: requestId,
    last_used_at: at,
    ...newExpiry(at, lifetime),
  };
}
