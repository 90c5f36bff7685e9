import { randomBytes } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import {
  isDuplicateKey,
  type PresentUser,
  type SessionStore,
  type SessionSummary,
  type UserStore,
} from '@auth-account/stores';
import { hasSameCredentials } from '@auth-account/stores/credentials';
import type { RequestMark, SessionDocument } from '@auth-account/stores/documents';
import { hasSecondFactor, type SecondFactorStore, trustedDevicesOf } from '@auth-account/stores/second-factors';
import type { RefreshTokens } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import { type Commit, none, type Outcome } from '../../announcements/commit.ts';
import type { AuditEvent } from '../../audit/events.ts';
import { hasSameBody, idempotentForMs } from '../../idempotency/open-idempotent.ts';
import type { Ids } from '../../request/ids.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import { trustIn } from '../../security/device-trust.ts';
import type { ConsumeProof } from '../proofs/consume-proof.ts';
import { type UseProofDeps, useProof } from '../proofs/use-proof.ts';
import {
  endedByLogin,
  type IssueTokens,
  isWorthNoting,
  mayBeFull,
  type NewSession,
  type NewSessionDeps,
  newSession,
} from '../sessions/session.ts';
import { deviceNameOf, knownAs, learnedDevice, newDeviceNotification } from './new-device.ts';
import {
  type AddIdentity,
  assertMayLogIn,
  isFirstProof,
  loginRefusalOf,
  type OpenedSession,
  type ProvedLogin,
  type ProveEmail,
} from './proved-login.ts';

export interface OpenSessionDeps extends NewSessionDeps, UseProofDeps {
  readonly users: Pick<UserStore, 'touchLogin' | 'noteLive'>;
  readonly sessions: Pick<SessionStore, 'exists' | 'find' | 'listLive' | 'revokeAll' | 'insert' | 'holdOf'>;
  readonly secondFactors: UseProofDeps['secondFactors'] & Pick<SecondFactorStore, 'trust'>;
  readonly consumeProof: ConsumeProof;
  readonly proveEmail: ProveEmail;
  readonly addIdentity: AddIdentity;
  readonly commit: Commit;
  readonly refreshTokens: Pick<RefreshTokens, 'issue' | 'currentKid' | 'hasKey' | 'rereadKeys'>;
  readonly issueTokens: IssueTokens;
  readonly ids: Pick<Ids, 'entityId' | 'deviceId'>;
  readonly now: () => Date;
}

/** Opens a session: see {@link createOpenSession}. */
export type OpenSession = (login: ProvedLogin, origin: RequestOrigin) => Promise<OpenedSession>;

/** Thrown in the transaction of a login that finds a sign-in method changed since its proof was checked. */
class CredentialsChanged extends Error {
  override readonly name = 'CredentialsChanged';
}

/**
 * Opens sessions, as the only function. There is one session per user and device. While the session lives, a repeat
 * with the same `Idempotency-Key` gets the session's newest token pair, because a request that the network repeats must
 * not replace the app's session.
 *
 * Raises the errors of {@link assertMayLogIn}, {@link ConsumeProof}, {@link useProof} and {@link AddIdentity}, the
 * login's own error if a sign-in method was changed or the trust in the device has ended since the proof was checked,
 * and `ERR-IDEMPOTENCY-KEY-REUSED`. No session is opened if the service notices before the commit that the client has
 * left.
 */
export function createOpenSession(deps: OpenSessionDeps): OpenSession {
  const { sessions, commit, issueTokens, audit, ids, now } = deps;
  const open = createOpen(deps);

  return async (proved, origin) => {
    const { seen, ifChanged = () => new AppError('ERR-INVALID-CREDENTIALS') } = proved;
    const userId = seen._id;
    const at = now();
    const deviceId = proved.deviceId ?? proved.device.device_id?.toLowerCase() ?? ids.deviceId();
    const login = { ...proved, marks: proved.marks ?? none, origin, deviceId, nonce: randomBytes(32), at };
    const progress: Progress = { sessionId: '', endsSome: false, isDeviceTaken: false };
    const begunAt = performance.now();
    const commitOnce = () =>
      commit(
        {
          at,
          begunAt,
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
        const isChanged = error instanceof CredentialsChanged;
        const reason = isChanged ? 'credentials_changed' : loginRefusalOf(error);
        if (reason !== undefined) audit({ event: 'login.refused', user_id: userId, reason }, origin);
        throw isChanged ? ifChanged() : error;
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

/** Outcome of a login. */
interface Opened extends Outcome {
  readonly session: SessionDocument;
  readonly isReplayed: boolean;
}

/** Does the work of a login's transaction. */
function createOpen(deps: OpenSessionDeps) {
  const { users, sessions, ids } = deps;
  const findOpened = createFindOpened(deps);
  const useProofs = createUseProofs(deps);

  return async (login: VerifiedLogin, progress: Progress, transactionSession: ClientSession): Promise<Opened> => {
    const { seen, method, origin, deviceId, marks, at } = login;
    const endsAll = isFirstProof(login);
    const device = knownAs(login.device);
    // Every login writes the user's document, and so does every change that revokes or moves all of a user's sessions,
    // so that neither misses the other.
    const user = await users.touchLogin(seen._id, at, transactionSession, learnedDevice(seen, device, at));
    assertProofCounts(login, user);
    assertMayLogIn(user);
    const looks = endsAll || progress.isDeviceTaken || mustLook(user, device, marks, at);
    const live = looks ? await sessions.listLive(user._id, transactionSession) : none;
    const opened = await findOpened(login, live, transactionSession);
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
    const session = newSession(deps, sessionOf(login, user, sessionId));
    await sessions.insert(session, transactionSession);
    const endedIds = ended.flatMap(({ sessionIds }) => sessionIds);
    const count = live.length + 1 - endedIds.length;
    if (isWorthNoting(user, count)) await users.noteLive(user, count, transactionSession);
    const notice = newDeviceNotification(deps, { user, device, at, session, live, ended: endedIds }, origin);
    const succeeded = { event: 'login.succeeded', user_id: user._id, session_id: sessionId, method } as const;
    const notified = { ...notice, events: [...notice.events, ...events], audit: [succeeded, ...audit] };
    return { session, isReplayed: false, ...notified, sessions: ended };
  };
}

/**
 * Raises an error if a sign-in method was changed, the trust that the login has used has ended, or the account's
 * erasure has come due since the proof was checked. Whatever does so writes the user's document, as the login does, so
 * that neither misses the other. While the second factor is on, a login by one factor needs that trust, whatever its
 * method has found, unless it ends the factor as well.
 */
function assertProofCounts(login: VerifiedLogin, user: PresentUser | undefined): asserts user is PresentUser {
  const { seen, identityId, auth, trust, deviceId, at } = login;
  const tokenIn = (each: PresentUser) =>
    trustedDevicesOf(each, at).find(({ device_id }) => device_id === deviceId)?.token;
  const counts =
    user !== undefined &&
    hasSameCredentials(seen, user, identityId) &&
    ((trust !== 'used' && (auth.acr === '2' || isFirstProof(login) || !hasSecondFactor(user))) ||
      (tokenIn(user) !== undefined && tokenIn(user) === tokenIn(seen)));
  if (!counts) throw new CredentialsChanged();
}

/**
 * Finds the live session that an earlier login with the same `Idempotency-Key` has opened. Raises
 * `ERR-IDEMPOTENCY-KEY-REUSED` if that login had another body.
 */
function createFindOpened({ sessions, refreshTokens, now }: OpenSessionDeps) {
  const awaitKey = createAwaitKey(refreshTokens, now, 'refresh');
  return async (
    { marks, at }: VerifiedLogin,
    live: readonly SessionSummary[],
    transactionSession: ClientSession,
  ): Promise<Opened | undefined> => {
    const isKnown = ({ _id }: RequestMark) => marks.some((mark) => mark._id === _id);
    const earlier = live.find(
      ({ opened_by = [], created_at, expires_at }) =>
        opened_by.some(isKnown) && expires_at > at && created_at.getTime() + idempotentForMs > at.getTime(),
    );
    if (earlier?.opened_by && !hasSameBody(marks, earlier.opened_by)) throw new AppError('ERR-IDEMPOTENCY-KEY-REUSED');
    const session = earlier && (await sessions.find(earlier._id, transactionSession));
    if (session === undefined) return;
    await awaitKey(session);
    const verified = { event: 'login.verified', user_id: session.user_id, session_id: session._id } as const;
    return { session, isReplayed: true, events: none, audit: [verified], sessions: none };
  };
}

/** Uses up what the login has proved, before its session exists. */
function createUseProofs(deps: OpenSessionDeps) {
  const { consumeProof, proveEmail, secondFactors, addIdentity, ids } = deps;
  return async (
    login: VerifiedLogin,
    { user, sessionId }: { readonly user: PresentUser; readonly sessionId: string },
    session: ClientSession,
  ) => {
    const { seen, device, proof, challengeUses = none, trust, link, origin, at } = login;
    for (const challengeUse of challengeUses) await consumeProof(challengeUse, { sessionId, at }, session);
    const used = proof && (await useProof(deps, proof, { user, at, origin }, session));
    if (typeof trust === 'object') await secondFactors.trust(user._id, trustIn(user, { ...login, ...trust }), session);
    const proved = isFirstProof(login)
      ? await proveEmail({ user: seen, device: knownAs(device), at }, origin, session)
      : undefined;
    const identity = link && { ...link, id: ids.entityId(), created_at: at };
    const linked = identity && (await addIdentity(proved?.user ?? user, { identity, sessionId }, origin, session));
    const all = [used, proved, linked].filter((each) => each !== undefined);
    return {
      events: all.flatMap(({ events }) => events),
      audit: [...confirmedBy(login), ...all.flatMap(({ audit }) => audit)],
      ended: proved === undefined ? none : [proved.ended],
    };
  };
}

/** Returns the record of the code with which the login began. */
function confirmedBy({ seen, method, link }: VerifiedLogin): readonly AuditEvent[] {
  if (method !== 'email_code') return none;
  return [{ event: 'code.confirmed', user_id: seen._id, purpose: link === undefined ? 'login' : 'identity_link' }];
}

/**
 * Returns true if the login must read the account's live sessions: an earlier request with the same key may have opened
 * one of them, their apps may need a notification of a new device, or there may be too many. Otherwise only the
 * device's own session matters, and the insert detects that session by the unique index.
 */
function mustLook(user: PresentUser, device: string, marks: readonly RequestMark[], at: Date): boolean {
  const { known_devices, last_login_at } = user;
  const mayBeRepeat =
    marks.length > 0 && last_login_at !== undefined && last_login_at.getTime() + idempotentForMs > at.getTime();
  return mayBeRepeat || !known_devices?.includes(device) || mayBeFull(user);
}

function sessionOf(login: VerifiedLogin, user: PresentUser, sessionId: string): NewSession {
  const { device, deviceId, auth, identityId, trust, marks, nonce, origin, at, jkt = provenKey(origin) } = login;
  return {
    ...{ sessionId, user, auth, identityId, jkt, marks, nonce, at },
    isTrusted: trust !== undefined,
    requestId: origin.requestId,
    device: {
      device_id: deviceId,
      is_device_named: device.device_id !== undefined,
      device_name: deviceNameOf(device.device_name),
      platform: device.platform ?? null,
    },
  };
}
