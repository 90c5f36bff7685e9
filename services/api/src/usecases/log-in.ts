import { randomBytes } from 'node:crypto';
import { disturbing, visible } from '@auth-account/contracts/http/fields';
import type { LoginRequest, TokenResponse } from '@auth-account/contracts/http/login';
import { AppError } from '@auth-account/errors';
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
import type { Ids } from '../request/ids.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import { assertClientConnected } from './assert-client-connected.ts';
import type { AssertEmailVerified } from './assert-email-verified.ts';
import { assertMayLogIn, loginRefusalOf } from './assert-may-log-in.ts';
import { type AuthenticateDeps, createAuthenticate } from './authenticate.ts';
import { hashesAhead } from './hashes-ahead.ts';
import type { IssueTokens } from './issue-tokens.ts';
import { createNewDeviceNotices, knownAs, learnedDevice, type NewDeviceDeps } from './new-device.ts';
import { newExpiry, type SessionLifetime } from './session-lifetime.ts';

export interface LogInDeps extends AuthenticateDeps, NewDeviceDeps {
  readonly users: AuthenticateDeps['users'] & Pick<UserStore, 'touchLogin'>;
  readonly sessions: Pick<SessionStore, 'exists' | 'listLive' | 'revokeAll' | 'insert' | 'holdOf'>;
  readonly transaction: RunTransaction;
  readonly refreshTokens: Pick<RefreshTokens, 'issue' | 'currentKid'>;
  readonly issueTokens: IssueTokens;
  readonly assertEmailVerified: AssertEmailVerified;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly lifetime: SessionLifetime;
  readonly ids: Ids;
  readonly now: () => Date;
}

/** Live sessions of one user. Above this the one unused for longest ends (decisions, "Login"). */
const sessionLimit = 50;

/**
 * Logs a user in (decisions, "Login"): one session per user and device.
 *
 * Raises the errors of {@link createAuthenticate}, and with the right password those of {@link assertMayLogIn} and
 * {@link AssertEmailVerified}. No session is opened if the client is seen to have left before the commit.
 */
export function createLogIn(
  deps: LogInDeps,
): (input: LoginRequest, origin: RequestOrigin) => Promise<TokenResponse['data']> {
  const { users, sessions, transaction, issueTokens, assertEmailVerified, announce, audit, ids, now } = deps;
  const authenticate = createAuthenticate(deps);
  const newDevices = createNewDeviceNotices(deps);

  return async (input, origin) => {
    const { requestId } = origin;
    const sentId = input.device_id?.toLowerCase();
    const deviceId = sentId ?? ids.groupId();
    const seen = await authenticate({ ...input, deviceId: sentId }, origin);
    const { _id: userId } = seen;
    await assertEmailVerified(seen, sentId, origin);
    const at = now();
    const sessionId = ids.entityId();
    const nonce = randomBytes(32);
    const device = knownAs(input);
    const learned = learnedDevice(seen, device, at);
    let endsSome = false;

    const work = async (transactionSession: ClientSession) => {
      // Written by every login, and by all that revokes or moves by user, so that neither misses the other.
      const user = await users.touchLogin(userId, at, transactionSession, learned);
      // The password that was verified must not open a session after another one has taken its place.
      if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
      assertMayLogIn(user);
      const live = await sessions.listLive(userId, transactionSession);
      const ended = endedByLogin(live, deviceId);
      endsSome = ended.length > 0;
      for (const { reason, ids: sessionIds } of ended) {
        await sessions.revokeAll(sessionIds, { reason, at, requestId }, transactionSession);
      }
      const session = newSession(deps, { user, sessionId, deviceId, nonce, at, input, requestId });
      await sessions.insert(session, transactionSession);
      const login = { user, device, at, session, live, ended: ended.flatMap((group) => group.ids) };
      const notice = await newDevices.append(login, origin, transactionSession);
      // An app that has given up logs in again: this session must not replace that one.
      assertClientConnected(origin);
      return { session, ended, notice };
    };
    // Logins at the same time conflict in the user's document, which no hold changes: it is for sessions that end.
    const hold = sessions.holdOf(() => (endsSome ? [userId] : []), now);
    const opened = transaction(work, { isCommitted: () => sessions.exists(sessionId), hold });
    const { session, ended, notice } = await opened.catch((error: unknown) => {
      const reason = loginRefusalOf(error);
      if (reason !== undefined) audit({ event: 'login.refused', user_id: userId, reason }, origin);
      throw error;
    });

    audit({ event: 'login.succeeded', user_id: userId, session_id: sessionId }, origin);
    for (const { reason, ids: sessionIds } of ended) {
      for (const session_id of sessionIds)
        audit({ event: 'session.revoked', user_id: userId, session_id, reason }, origin);
    }
    if (notice !== undefined) newDevices.announce(notice);
    await Promise.all(
      ended.map(({ reason, ids: sessionIds }) =>
        announce({ sessionIds, reason: closeReasonOf(reason), requestId, at }),
      ),
    );
    return issueTokens(session);
  };
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
