import type { Body, Data } from '../calls/call.ts';
import type { OperationName } from '../generated/operations.ts';
import { loginCodesOf, removalsOf } from './fake-codes.ts';
import { factorsOf, passkeysOf, stepUpsOf } from './fake-factors.ts';
import { federatedLoginsOf, identitiesOf } from './fake-federated.ts';
import {
  createOpenSession,
  type FakeCall,
  type FakeOperation,
  type FakeOperationsDeps,
  FakeRefusal,
  tokensOf,
} from './fake-logins.ts';
import { addUser, type FakeSession, type FakeUser, parseRefreshToken, rotate, userByEmail } from './fake-records.ts';
import { demandSecondFactor, trustedDevices } from './fake-sign-in-methods.ts';

/** Creates the operations that have an effect in the fake service. */
export function createFakeOperations(deps: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  return {
    ...entranceOf(deps),
    ...loginCodesOf(deps),
    ...federatedLoginsOf(deps),
    ...identitiesOf(deps),
    ...factorsOf(deps),
    ...removalsOf(deps),
    ...stepUpsOf(deps),
    ...passkeysOf(deps),
    ...sessionsOf(deps),
    ...accountOf(deps),
  };
}

function entranceOf(deps: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  const { records, endSession, pushUrl } = deps;
  const { sessions, answers, now } = records;
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
      const account_type = input.space_creation_mode === 'CREATE_NEW_OFFICE' ? 'OFFICE' : 'HOME';
      const { email, password } = input;
      const { user_id, home_group_id, created_at } = addUser(records, { email, password, account_type });
      const data = { user_id, home_group_id, account_type, timestamp: created_at } as const;
      if (idempotencyKey) answers.set(idempotencyKey, { body: text, data });
      return data;
    },
    logIn({ body, idempotencyKey, key }) {
      const { email, password, trusted_device_token: trust, ...device } = body as Body<'logIn'>;
      const user = userByEmail(records, email);
      if (user?.password !== password) throw new FakeRefusal(401, 'ERR-INVALID-CREDENTIALS');
      const openedBy = idempotencyKey && { key: idempotencyKey, body: JSON.stringify([device, key]) };
      const login = { user_id: user.user_id, device, ...(openedBy && { openedBy }), ...(key && { key }) };
      demandSecondFactor(records, login, trust);
      return openSession(login);
    },
    refreshTokens({ body, key }) {
      const found = parseRefreshToken(records, (body as Body<'refreshTokens'>).refresh_token);
      if (!found) throw new FakeRefusal(401, 'IAD_JWT_REFRESH_EXPIRED');
      const { session, generation } = found;
      if (!session.ended && session.key && session.key !== key) throw new FakeRefusal(401, 'IAD_JWT_REFRESH_EXPIRED');
      if (!session.ended && !rotate(session, generation)) endSession(session, 'reused');
      if (session.ended) throw new FakeRefusal(401, 'IAD_JWT_REFRESH_STOLEN', { reason: session.ended });
      session.last_used_at = now().toISOString();
      // The map has the latest used session last.
      sessions.delete(session.session_id);
      sessions.set(session.session_id, session);
      return tokens(session);
    },
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
      const trusted = trustedDevices(records, session.user_id);
      const shown = ({ session_id, device_id, device_name, platform, created_at, last_used_at, key }: FakeSession) => ({
        ...{ session_id, device_id, device_name, platform, created_at, last_used_at },
        expires_at: new Date(now().getTime() + 2_592_000_000).toISOString(),
        bound: key !== undefined,
        trusted: trusted.some((one) => one.device_id === device_id),
        is_current: session_id === session.session_id,
      });
      return { sessions: liveOf(session.user_id).reverse().map(shown), timestamp: timestamp() };
    },
    revokeSession({ params: { session_id = '' }, session }) {
      const found = sessions.get(session_id);
      if (found?.user_id !== session.user_id || found.ended) throw new FakeRefusal(404, 'ERR-LOGOUT-TARGET-NOT-FOUND');
      endSession(found, found === session ? 'logged_out' : 'revoked');
      return { message: 'SESSION_TERMINATED', session_id, timestamp: timestamp() };
    },
  };
}

function accountOf({ records }: FakeOperationsDeps): Partial<Record<OperationName, FakeOperation>> {
  const { users, now } = records;
  const userOf = ({ session }: FakeCall) => users.get(session.user_id) as FakeUser;
  const shown = (user: FakeUser): Data<'findAccount'> => {
    const { password, ...own } = user;
    const facts = { pending_email: null, role: 'owner', has_password: password !== '' } as const;
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
