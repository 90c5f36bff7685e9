import type { Body, Data } from '../calls/call.ts';
import type { OperationName } from '../generated/operations.ts';
import type { ErrorCode } from '../generated/reactions.ts';
import {
  accessSeconds,
  type FakeLogin,
  type FakeRecords,
  type FakeSession,
  type FakeUser,
  newAccessToken,
  parseRefreshToken,
  refreshTokenOf,
  rotate,
  userByEmail,
} from './fake-records.ts';

/** A refusal, with the code and the status of the contract. */
export class FakeRefusal extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: object;
  constructor(status: number, code: ErrorCode, details: object = {}) {
    super(`The fake service answers ${code}.`);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export interface FakeCall {
  readonly params: Readonly<Record<string, string>>;
  readonly body: never;
  readonly idempotencyKey: string | undefined;
  /** Header of the request's proof (`DPoP`). It is not verified. */
  readonly key: string | undefined;
  /** The caller's session. It is there only if the operation takes an access token. */
  readonly session: FakeSession;
}

export interface FakeOperationsDeps {
  readonly records: FakeRecords;
  readonly endSession: (session: FakeSession, reason: NonNullable<FakeSession['ended']>) => void;
  readonly pushUrl: string;
}

/** Carries out an operation and returns the `data` of its success. */
export type FakeOperation = (call: FakeCall) => object;

/** Creates the operations that have an effect in the fake service. */
export function createFakeOperations(deps: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  return { ...entranceOf(deps), ...passkeysOf(deps), ...sessionsOf(deps), ...accountOf(deps) };
}

function entranceOf(deps: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  const { records, endSession, pushUrl } = deps;
  const { users, answers, newId, now } = records;
  const openSession = createOpenSession(deps);

  const tokens = (session: FakeSession) => tokensOf(records, pushUrl, session);

  return {
    registerAccount({ body, idempotencyKey }) {
      const input = body as Body<'registerAccount'>;
      const text = JSON.stringify(input);
      const earlier = answers.get(idempotencyKey ?? '');
      if (earlier && earlier.body !== text) throw new FakeRefusal(422, 'ERR-IDEMPOTENCY-KEY-REUSED');
      if (earlier) return earlier.data;
      const rejected_email = input.email;
      if (userByEmail(records, input.email)) throw new FakeRefusal(409, 'ERR-EMAIL-ALREADY-EXISTS', { rejected_email });
      const at = now().toISOString();
      const account_type = input.space_creation_mode === 'CREATE_NEW_OFFICE' ? 'OFFICE' : 'HOME';
      const ids = { user_id: newId(), home_group_id: newId(), account_type } as const;
      const { email, password } = input;
      users.set(ids.user_id, { ...ids, email, password, display_name: null, locale: null, created_at: at });
      const data = { ...ids, timestamp: at };
      if (idempotencyKey) answers.set(idempotencyKey, { body: text, data });
      return data;
    },
    logIn({ body, idempotencyKey, key }) {
      const { email, password, trusted_device_token: trust, ...device } = body as Body<'logIn'>;
      const user = userByEmail(records, email);
      if (user?.password !== password) throw new FakeRefusal(401, 'ERR-INVALID-CREDENTIALS');
      const openedBy = idempotencyKey && { key: idempotencyKey, body: JSON.stringify([device, key]) };
      const login = { user_id: user.user_id, device, ...(openedBy && { openedBy }), ...(key && { key }) };
      if (records.secondFactor.code !== undefined && trust !== trustOf(login)) throw secondFactorOf(records, login);
      return openSession(login);
    },
    confirmSecondFactor({ body }) {
      const { challenge_id, code, trust_device } = body as Body<'confirmSecondFactor'>;
      const login = records.secondFactor.logins.get(challenge_id);
      if (!login) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
      if (code !== records.secondFactor.code)
        throw new FakeRefusal(403, 'ERR-SECOND-FACTOR-INVALID', { tries_left: 4 });
      return { ...openSession(login), ...(trust_device && { trusted_device_token: trustOf(login) }) };
    },
    refreshTokens({ body, key }) {
      const found = parseRefreshToken(records, (body as Body<'refreshTokens'>).refresh_token);
      if (!found) throw new FakeRefusal(401, 'IAD_JWT_REFRESH_EXPIRED');
      const { session, generation } = found;
      if (!session.ended && session.key && session.key !== key) throw new FakeRefusal(401, 'IAD_JWT_REFRESH_EXPIRED');
      if (!session.ended && !rotate(session, generation)) endSession(session, 'reused');
      if (session.ended) throw new FakeRefusal(401, 'IAD_JWT_REFRESH_STOLEN', { reason: session.ended });
      return tokens(session);
    },
  };
}

/** Creates the end of every login: the function that opens the session and returns its tokens. */
function createOpenSession({ records, endSession, pushUrl }: FakeOperationsDeps) {
  const { sessions, newId, now } = records;
  return ({ user_id, device, openedBy, key }: FakeLogin): Data<'logIn'> => {
    const { device_id = newId(), device_name, platform } = device;
    const live = [...sessions.values()].filter((one) => one.user_id === user_id && !one.ended);
    const earlier = openedBy && openedUnder(live, openedBy);
    if (earlier) return tokensOf(records, pushUrl, earlier);
    for (const one of live) if (one.device_id === device_id) endSession(one, 'replaced');
    const about = { device_id, device_name: device_name ?? null, platform: platform ?? null };
    const ids = { session_id: newId(), user_id, created_at: now().toISOString() };
    const session = {
      ...ids,
      ...about,
      ...(openedBy && { openedBy }),
      ...(key && { key }),
      generation: 1,
      parent: 0,
      floor: 0,
      accessTokens: new Set<string>(),
    };
    sessions.set(session.session_id, session);
    return tokensOf(records, pushUrl, session);
  };
}

function passkeysOf(deps: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  const { records } = deps;
  const { newId, now } = records;
  const openSession = createOpenSession(deps);
  return {
    createPasskey({ body, session }) {
      const { credential, name = null } = body as Body<'createPasskey'>;
      if (records.passkeys.has(credential.id)) throw new FakeRefusal(409, 'ERR-PASSKEY-EXISTS');
      records.passkeys.set(credential.id, session.user_id);
      const at = now().toISOString();
      return { passkey_id: newId(), name, backed_up: true, created_at: at, last_used_at: null, timestamp: at };
    },
    logInByPasskey({ body, key }) {
      const { credential, challenge_id: _, ...device } = body as Body<'logInByPasskey'>;
      const user_id = records.passkeys.get(credential.id);
      if (!user_id) throw new FakeRefusal(403, 'ERR-PASSKEY-INVALID', { unknown_credential: true });
      const openedBy = { key: JSON.stringify(body), body: '' };
      return openSession({ user_id, device, openedBy, ...(key && { key }) });
    },
  };
}

const trustOf = ({ user_id, device }: FakeLogin) => `trust-${user_id}-${device.device_id}`;

/** Keeps the login until its second factor, and returns the demand. */
function secondFactorOf({ secondFactor, newId, now }: FakeRecords, login: FakeLogin): FakeRefusal {
  const challenge_id = newId();
  secondFactor.logins.set(challenge_id, login);
  const expires_at = new Date(now().getTime() + 600_000).toISOString();
  return new FakeRefusal(403, 'ERR-SECOND-FACTOR-REQUIRED', { challenge_id, methods: ['totp'], expires_at });
}

function openedUnder(live: readonly FakeSession[], by: NonNullable<FakeSession['openedBy']>): FakeSession | undefined {
  const earlier = live.find(({ openedBy }) => openedBy?.key === by.key);
  if (earlier && earlier.openedBy?.body !== by.body) throw new FakeRefusal(422, 'ERR-IDEMPOTENCY-KEY-REUSED');
  return earlier;
}

function tokensOf(records: FakeRecords, pushUrl: string, session: FakeSession): Data<'logIn'> {
  const user = records.users.get(session.user_id) as FakeUser;
  const path = `/ws/push-stream/${session.session_id}`;
  return {
    access_token: newAccessToken(records, session),
    token_type: 'Bearer',
    expires_in: accessSeconds,
    refresh_token: refreshTokenOf(session),
    refresh_expires_in: 2_592_000,
    ...(session.key && { bound: true as const }),
    user_id: user.user_id,
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    session_id: session.session_id,
    device_id: session.device_id,
    push_stream_path: path,
    push_stream_url: `${pushUrl}${path}`,
    timestamp: records.now().toISOString(),
  };
}

function sessionsOf({ records, endSession }: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  const { sessions, now } = records;
  const liveOf = (user_id: string) => [...sessions.values()].filter((one) => one.user_id === user_id && !one.ended);
  const timestamp = () => now().toISOString();
  return {
    logOut({ body, session: { user_id } }) {
      const found = parseRefreshToken(records, (body as Body<'logOut'>).refresh_token)?.session;
      if (found?.user_id !== user_id || found.ended) throw new FakeRefusal(404, 'ERR-LOGOUT-TARGET-NOT-FOUND');
      endSession(found, 'logged_out');
      const details = 'The refresh token has been revoked and the push WebSocket of this device has been closed.';
      return { message: 'SESSION_TERMINATED', details, timestamp: timestamp() };
    },
    logOutAll({ body, session }) {
      const { except_current = false } = (body ?? {}) as Body<'logOutAll'>;
      const ended = liveOf(session.user_id).filter((one) => !(except_current && one === session));
      for (const one of ended) endSession(one, 'logged_out');
      const terminated_sessions = ended.length;
      return { message: 'SESSIONS_TERMINATED', terminated_sessions, timestamp: timestamp() };
    },
    listSessions({ session }) {
      const list = liveOf(session.user_id).map(({ session_id, device_id, device_name, platform, created_at, key }) => ({
        ...{ session_id, device_id, device_name, platform, created_at },
        last_used_at: created_at,
        expires_at: new Date(now().getTime() + 2_592_000_000).toISOString(),
        bound: key !== undefined,
        trusted: false,
        is_current: session_id === session.session_id,
      }));
      return { sessions: list, timestamp: timestamp() };
    },
    revokeSession({ params: { session_id = '' }, session }) {
      const found = sessions.get(session_id);
      if (found?.user_id !== session.user_id || found.ended) throw new FakeRefusal(404, 'ERR-LOGOUT-TARGET-NOT-FOUND');
      endSession(found, 'revoked');
      return { message: 'SESSION_TERMINATED', session_id, timestamp: timestamp() };
    },
  };
}

function accountOf({ records }: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  const { users, now } = records;
  const userOf = ({ session }: FakeCall) => users.get(session.user_id) as FakeUser;
  const shown = (user: FakeUser): Data<'findAccount'> => {
    const { password: _, ...own } = user;
    const facts = { email_verified: false, pending_email: null, role: 'owner' } as const;
    return { ...own, ...facts, password_changed_at: own.created_at, timestamp: now().toISOString() };
  };
  return {
    findAccount: (call) => shown(userOf(call)),
    changeAccount(call) {
      const user = userOf(call);
      const { display_name = user.display_name, locale = user.locale } = call.body as Body<'changeAccount'>;
      Object.assign(user, { display_name, locale });
      return shown(user);
    },
  };
}
