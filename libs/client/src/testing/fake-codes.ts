import type { Body } from '../calls/call.ts';
import type { OperationName } from '../generated/operations.ts';
import { createOpenSession, type FakeOperation, type FakeOperationsDeps, FakeRefusal } from './fake-logins.ts';
import { mailedCode, userByEmail } from './fake-records.ts';
import { demandSecondFactor } from './fake-ways.ts';

type Operations = Partial<Record<OperationName, FakeOperation>>;

const removalMs = 72 * 3_600_000;

/** Creates the login by a mailed code. */
export function loginCodesOf(deps: FakeOperationsDeps): Operations {
  const { records } = deps;
  const openSession = createOpenSession(deps);
  return {
    requestLoginCode({ body, example }) {
      const challenge_id = records.newId();
      records.loginCodes.set(challenge_id, (body as Body<'requestLoginCode'>).email);
      return { ...example, challenge_id };
    },
    logInByCode({ body, key }) {
      const { challenge_id, code, trusted_device_token: token, ...device } = body as Body<'logInByCode'>;
      const user = userByEmail(records, records.loginCodes.get(challenge_id) ?? '');
      if (!user || code !== mailedCode) throw new FakeRefusal(403, 'ERR-CODE-INVALID', { tries_left: 4 });
      const openedBy = { key: JSON.stringify(body), body: '' };
      const login = { user_id: user.user_id, device, openedBy, ...(key && { key }) };
      demandSecondFactor(records, login, token);
      return openSession(login);
    },
  };
}

/** Creates the removal of a lost second factor. */
export function removalsOf({ records }: FakeOperationsDeps): Operations {
  const { secondFactor, newId, now } = records;
  return {
    requestSecondFactorRemoval({ body, example }) {
      const challenge_id = newId();
      secondFactor.removals.set(challenge_id, (body as Body<'requestSecondFactorRemoval'>).email);
      return { ...example, challenge_id };
    },
    confirmSecondFactorRemoval({ body, example }) {
      const { challenge_id, code } = body as Body<'confirmSecondFactorRemoval'>;
      const user = userByEmail(records, secondFactor.removals.get(challenge_id) ?? '');
      const factor = secondFactor.of.get(user?.user_id ?? '');
      if (!factor?.confirmed_at || code !== mailedCode)
        throw new FakeRefusal(403, 'ERR-CODE-INVALID', { tries_left: 4 });
      factor.removal ??= { due_at: new Date(now().getTime() + removalMs).toISOString() };
      return { ...example, ...factor.removal, timestamp: now().toISOString() };
    },
    deleteSecondFactorRemoval({ session, example }) {
      const factor = secondFactor.of.get(session.user_id);
      if (factor) factor.removal = undefined;
      return { ...example, timestamp: now().toISOString() };
    },
  };
}
