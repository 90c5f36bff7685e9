import { randomBytes } from 'node:crypto';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError } from '@auth-account/errors';
import {
  defaultDeadlineMs,
  isDuplicateKey,
  type PresentUser,
  type SessionStore,
  type SessionSummary,
  type UserStore,
} from '@auth-account/stores';
import { hasSameCredentials } from '@auth-account/stores/credentials';
import type { RequestMark, SessionAuth, SessionDocument } from '@auth-account/stores/documents';
import { hasSecondFactor, trustedDevicesOf } from '@auth-account/stores/second-factors';
import { mostLiveSessions } from '@auth-account/stores/users';
import { type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import { Binary, type ClientSession } from 'mongodb';
import { type Commit, type EndedSessions, none, type Outcome } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { LoginMethod } from '../../audit/audit-row.ts';
import { idempotentForMs } from '../../idempotency/open-idempotent.ts';
import type { Ids } from '../../request/ids.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import type { Spend } from '../proofs/once-per-proof.ts';
import { hashesAhead } from '../sessions/hashes-ahead.ts';
import type { IssueTokens } from '../sessions/issue-tokens.ts';
import { newExpiry, type SessionLifetime } from '../sessions/session-lifetime.ts';
import type { AddIdentity, NewIdentity } from './add-identity.ts';
import { assertMayLogIn, loginRefusalOf } from './assert-may-log-in.ts';
import { type DeviceFields, deviceNameOf } from './device-name.ts';
import { createFindOpened, type Opened } from './find-opened.ts';
import { knownAs, learnedDevice, newDeviceNotice } from './new-device.ts';
import type { SpendProof } from './spend-proof.ts';

export interface OpenSessionDeps {
  readonly users: Pick<UserStore, 'touchLogin' | 'noteLive'>;
  readonly sessions: Pick<SessionStore, 'exists' | 'find' | 'listLive' | 'revokeAll' | 'insert' | 'holdOf'>;
  readonly spendProof: SpendProof;
  readonly addIdentity: AddIdentity;
  readonly commit: Commit;
  readonly refreshTokens: Pick<RefreshTokens, 'issue' | 'currentKid' | 'hasKey' | 'rereadKeys'>;
  readonly issueTokens: IssueTokens;
  readonly audit: Audit;
  readonly lifetime: SessionLifetime;
  readonly ids: Pick<Ids, 'entityId' | 'deviceId'>;
  readonly now: () => Date;
}

/** The trust in the device of a login: `used` in place of a second factor, or `made` by the login. */
export type Trust = 'used' | 'made';

/** A person who has proved to be the account's user, and the device on which they log in. */
export interface ProvedLogin {
  /** The account as the check of the proof has read it. */
  readonly seen: PresentUser;
  readonly device: DeviceFields;
  /** Id of the device, if an earlier step of the login has made it up; by default that of {@link device}, or a new one. */
  readonly deviceId?: string | undefined;
  /** The way in with which the login began. */
  readonly method: LoginMethod;
  readonly auth: Omit<SessionAuth, 'at'>;
  readonly trust?: Trust | undefined;
  /** Identity by which the login began. */
  readonly identityId?: string | undefined;
  /** Key to which the session is bound; by default the key that the request has proven. */
  readonly jkt?: string | undefined;
  /** Marks of the request's `Idempotency-Key`. A live session with these marks is the answer to a repeat. */
  readonly marks?: readonly RequestMark[];
  /** The challenges that the login uses up. */
  readonly spends?: readonly Spend[];
  /** Identity that the login links to the account. */
  readonly link?: NewIdentity | undefined;
  /** True if `use` ends all sessions of the account, and its second factor. */
  readonly endsAll?: boolean;
  /**
   * Makes the conditional writes that use up a proof, such as a code, and returns what they announce. Throws if the
   * proof was used before.
   */
  readonly use?: (user: PresentUser, at: Date, transactionSession: ClientSession) => Promise<UsedProof>;
}

/** Changes that come with the use of a proof. */
export interface UsedProof extends Partial<Pick<Outcome, 'events' | 'audit'>> {
  readonly sessions?: readonly EndedSessions[];
  /** The account after the use; missing if the use has changed no way in. */
  readonly user?: PresentUser;
}

export interface OpenedSession {
  readonly data: TokenResponse['data'];
  /** True if an earlier login with the same `Idempotency-Key` opened the session. */
  readonly isReplayed: boolean;
}

/** Opens a session: see {@link createOpenSession}. */
export type OpenSession = (login: ProvedLogin, origin: RequestOrigin) => Promise<OpenedSession>;

/**
 * Limit for the live sessions of one user. Above it, the session unused for longest ends
 * (docs/specification/login-and-tokens.md, "Login").
 */
const sessionLimit = 50;

/**
 * Creates the end of every way in: the only function that opens sessions (docs/specification/sign-in.md, "One end").
 * There is one session per user and device. While the session lives, a repeat with the same `Idempotency-Key` gets the
 * session's newest token pair, because a request that the network repeats must not replace the app's session.
 *
 * Raises the errors of {@link assertMayLogIn}, {@link SpendProof}, {@link AddIdentity} and of the login's `use`,
 * `ERR-INVALID-CREDENTIALS` if a way in was changed or the trust in the device has ended since the proof was checked, and
 * `ERR-IDEMPOTENCY-KEY-REUSED`. No session is opened if the service notices before the commit that the client has left.
 */
export function createOpenSession(deps: OpenSessionDeps): OpenSession {
  const { sessions, commit, issueTokens, audit, ids, now } = deps;
  const open = createOpen(deps);

  return async (proved, origin) => {
    const userId = proved.seen._id;
    const at = now();
    const deviceId = proved.deviceId ?? proved.device.device_id?.toLowerCase() ?? ids.deviceId();
    const login = { ...proved, marks: proved.marks ?? none, origin, deviceId, nonce: randomBytes(32), at };
    const progress: Progress = { sessionId: '', endsSome: false, isDeviceTaken: false };
    const startedAt = performance.now();
    const commitOnce = () =>
      commit(
        {
          at,
          deadlineMs: Math.max(0, defaultDeadlineMs - (performance.now() - startedAt)),
          // The hold is only for sessions that end. It does not keep simultaneous logins from conflicting in the user's
          // document.
          hold: sessions.holdOf(() => (progress.endsSome ? [userId] : [])),
          isCommitted: () => sessions.exists(progress.sessionId),
          // An app that has given up logs in again. This session must not replace the new one.
          ifClientLeft: 'abort',
          work: (transactionSession) => open(login, progress, transactionSession),
        },
        origin,
      );
    const { session, isReplayed } = await commitOnce()
      .catch((error: unknown) => {
        if (!isDuplicateKey(error, 'device_id')) throw error;
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

/** A login whose proof is right. */
interface VerifiedLogin extends ProvedLogin {
  readonly marks: readonly RequestMark[];
  readonly origin: RequestOrigin;
  readonly deviceId: string;
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
function createOpen(deps: OpenSessionDeps) {
  const { users, sessions, ids } = deps;
  const findOpened = createFindOpened(deps);
  const useProofs = createUseProofs(deps);

  return async (login: VerifiedLogin, progress: Progress, transactionSession: ClientSession): Promise<Opened> => {
    const { seen, method, origin, deviceId, marks, endsAll = false, at } = login;
    const device = knownAs(login.device);
    // Every login writes the user's document, and so does every change that revokes or moves all of a user's sessions,
    // so that neither misses the other.
    const user = await users.touchLogin(seen._id, at, transactionSession, learnedDevice(seen, device, at));
    assertProofCounts(login, user);
    assertMayLogIn(user);
    const looks = endsAll || progress.isDeviceTaken || mustLook(user, device, marks, at);
    const live = looks ? await sessions.listLive(user._id, transactionSession) : none;
    const opened = await findOpened({ marks, live, at }, transactionSession);
    if (opened !== undefined) return opened;
    const replaced = endedByLogin(user, live, deviceId);
    progress.endsSome = endsAll || replaced.length > 0;
    for (const { reason, sessionIds } of replaced) {
      await sessions.revokeAll(sessionIds, { reason, at, requestId: origin.requestId }, transactionSession);
    }
    // Apps compare ids to see which of a device's two logins is valid, so this session's id is the greatest.
    const ofDevice = live.flatMap((each) => (each.device_id === deviceId ? each._id : []));
    const sessionId = ids.entityId(ofDevice.toSorted().at(-1));
    progress.sessionId = sessionId;
    const { events, audit, ended: others } = await useProofs(login, { user, sessionId }, transactionSession);
    const ended = [...replaced, ...others];
    const session = newSession(deps, login, { user, sessionId });
    await sessions.insert(session, transactionSession);
    const endedIds = ended.flatMap(({ sessionIds }) => sessionIds);
    const count = live.length + 1 - endedIds.length;
    if (isWorthNoting(user, count)) await users.noteLive(user, count, transactionSession);
    const notice = newDeviceNotice(deps, { user, device, at, session, live, ended: endedIds }, origin);
    const succeeded = { event: 'login.succeeded', user_id: user._id, session_id: sessionId, method } as const;
    const told = { ...notice, events: [...notice.events, ...events], audit: [succeeded, ...audit] };
    return { session, isReplayed: false, ...told, sessions: ended };
  };
}

/**
 * Raises an error if a way in was changed, the trust that the login has used has ended, or the account's erasure has come
 * due since the proof was checked. Whatever does so writes the user's document, as the login does, so that neither misses
 * the other. While the second factor is on, a login by one factor needs that trust, whatever its method has found,
 * unless it ends the factor as well.
 */
function assertProofCounts(
  { seen, identityId, auth, endsAll = false, trust, deviceId, at }: VerifiedLogin,
  user: PresentUser | undefined,
): asserts user is PresentUser {
  const tokenIn = (each: PresentUser) =>
    trustedDevicesOf(each, at).find(({ device_id }) => device_id === deviceId)?.token;
  const counts =
    user !== undefined &&
    hasSameCredentials(seen, user, identityId) &&
    ((trust !== 'used' && (auth.acr === '2' || endsAll || !hasSecondFactor(user))) ||
      (tokenIn(user) !== undefined && tokenIn(user) === tokenIn(seen)));
  if (!counts) throw new AppError('ERR-INVALID-CREDENTIALS');
}

/** Creates the function that uses up what the login has proved, before its session exists. */
function createUseProofs({ spendProof, addIdentity, ids }: OpenSessionDeps) {
  return async (login: VerifiedLogin, { user, sessionId }: NewSession, session: ClientSession) => {
    const { spends = none, use, link, origin, at } = login;
    for (const spend of spends) await spendProof(spend, { sessionId, at }, session);
    const used = (await use?.(user, at, session)) ?? {};
    const { events = none, audit = none, sessions: ended = none, user: seen = user } = used;
    if (link === undefined) return { events, audit, ended };
    const identity = { ...link, id: ids.entityId(), created_at: at };
    const linked = await addIdentity(seen, { identity, sessionId }, origin, session);
    return { events: [...events, ...linked.events], audit: [...audit, ...linked.audit], ended };
  };
}

/**
 * Returns true if the login must read the account's live sessions: an earlier request with the same key may have opened
 * one of them, their apps may need a notice of a new device, or there may be too many. Otherwise only the device's own
 * session matters, and the insert detects that session by the unique index.
 */
function mustLook(user: PresentUser, device: string, marks: readonly RequestMark[], at: Date): boolean {
  const { known_devices, last_login_at } = user;
  const mayBeRepeat =
    marks.length > 0 && last_login_at !== undefined && last_login_at.getTime() + idempotentForMs > at.getTime();
  return mayBeRepeat || !known_devices?.includes(device) || mayBeFull(user);
}

function mayBeFull(user: PresentUser): boolean {
  return mostLiveSessions(user) >= sessionLimit;
}

/**
 * Returns true if a login that has read the `count` live sessions should store this number. That is worth a write only
 * if at least two later logins then need not read the sessions.
 */
function isWorthNoting(user: PresentUser, count: number): boolean {
  return mayBeFull(user) && count + 2 <= sessionLimit;
}

/**
 * Returns the sessions that a login on this device ends: the device's previous session, and sessions above the limit.
 * In `live` the session unused for longest comes first.
 */
function endedByLogin({ _id: userId }: PresentUser, live: readonly SessionSummary[], deviceId: string) {
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
  readonly user: PresentUser;
  readonly sessionId: string;
}

function newSession(
  { refreshTokens, lifetime }: OpenSessionDeps,
  { deviceId, nonce, at, device, auth, identityId, origin, marks, trust, jkt = provenKey(origin) }: VerifiedLogin,
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
    auth: { at, ...auth },
    ...(identityId !== undefined && { identity_id: identityId }),
    ...(jkt !== undefined && { cnf: { jkt } }),
    ...(trust !== undefined && { is_trusted: true }),
    device_id: deviceId,
    is_device_named: device.device_id !== undefined,
    device_name: deviceNameOf(device.device_name),
    platform: device.platform ?? null,
    created_at: at,
    created_request_id: origin.requestId,
    ...(marks.length > 0 && { opened_by: marks }),
    last_used_at: at,
    ...newExpiry(at, lifetime),
  };
}
