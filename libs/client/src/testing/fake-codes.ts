import type { Body, Data } from '../calls/call.ts';
import type { OperationName } from '../generated/operations.ts';
import {
  createOpenSession,
  type FakeOperation,
  type FakeOperationsDeps,
  FakeRefusal,
  openedBefore,
  tokensOf,
} from './fake-logins.ts';
import { type FakeLogin, type FakeRecords, type FakeUser, mailedCode, userByEmail } from './fake-records.ts';
import { demandSecondFactor, endTrust, passkeysBy } from './fake-sign-in-methods.ts';

type Operations = Partial<Record<OperationName, FakeOperation>>;

const removalMs = 72 * 3_600_000;

/** Mails a code, which only its purpose takes. Returns its challenge. */
export function mailCode({ codes, newId }: FakeRecords, purpose: string, email: string): string {
  const challenge_id = newId();
  codes.set(challenge_id, { purpose, email, tries_left: 5 });
  return challenge_id;
}

/** Returns the user of a code. Refuses a wrong one, and counts it. */
export function checkCode(records: FakeRecords, purpose: string, challengeId: string, code: string): FakeUser {
  const asked = records.codes.get(challengeId);
  const isOpen = asked?.purpose === purpose && asked.tries_left > 0;
  const user = isOpen ? userByEmail(records, asked.email) : undefined;
  if (user && code === mailedCode) return user;
  if (isOpen) asked.tries_left -= 1;
  throw new FakeRefusal(403, 'ERR-CODE-INVALID', { tries_left: isOpen ? asked.tries_left : 0 });
}

/** Ends a login by a mailed code, and takes the account back if it is the first proof of its email address. */
export function createOpenByCode(deps: FakeOperationsDeps) {
  const { records, endSession } = deps;
  const { sessions, passkeys, identities, secondFactor, codes } = records;
  const openSession = createOpenSession(deps);

  function takeBack(user: FakeUser): void {
    Object.assign(user, { email_verified: true, password: '' });
    const { user_id, email } = user;
    for (const one of sessions.values()) if (one.user_id === user_id && !one.ended) endSession(one, 'password_changed');
    for (const [id] of passkeysBy(records, user_id)) passkeys.delete(id);
    identities.splice(0, identities.length, ...identities.filter((one) => one.user_id !== user_id));
    for (const [id, code] of codes) if (code.email.toLowerCase() === email.toLowerCase()) codes.delete(id);
    secondFactor.of.delete(user_id);
    endTrust(records, user_id);
  }

  return (user: FakeUser, login: FakeLogin, token?: string): Data<'logIn'> => {
    // A second factor that the test has set belongs to an account whose email address is proved.
    const isFirst = !user.email_verified && secondFactor.code === undefined;
    if (isFirst) takeBack(user);
    else demandSecondFactor(records, login, token);
    return openSession(login);
  };
}

/** Creates the login by a mailed code. */
export function loginCodesOf(deps: FakeOperationsDeps): Operations {
  const { records, pushUrl } = deps;
  const openByCode = createOpenByCode(deps);
  return {
    requestLoginCode({ body, example }) {
      const { email } = body as Body<'requestLoginCode'>;
      return { ...example, challenge_id: mailCode(records, 'login', email) };
    },
    logInByCode({ body, key }) {
      const { challenge_id, code, trusted_device_token: token, ...device } = body as Body<'logInByCode'>;
      const challengeUse = { id: challenge_id, proof: JSON.stringify([code, device.device_id, key]) };
      const before = openedBefore(records, challengeUse);
      if (before) return tokensOf(records, pushUrl, before);
      const user = checkCode(records, 'login', challenge_id, code);
      const login = { user_id: user.user_id, device, challengeUses: [challengeUse], ...(key && { key }) };
      return openByCode(user, login, token);
    },
  };
}

/** Removes a lost second factor. */
export function removalsOf({ records }: FakeOperationsDeps): Operations {
  const { secondFactor, codes, now } = records;
  return {
    requestSecondFactorRemoval({ body, example }) {
      const { email } = body as Body<'requestSecondFactorRemoval'>;
      return { ...example, challenge_id: mailCode(records, 'removal', email) };
    },
    confirmSecondFactorRemoval({ body, example }) {
      const { challenge_id, code } = body as Body<'confirmSecondFactorRemoval'>;
      const { user_id } = checkCode(records, 'removal', challenge_id, code);
      const factor = secondFactor.of.get(user_id);
      if (!factor?.confirmed_at) throw new FakeRefusal(403, 'ERR-CODE-INVALID', { tries_left: 0 });
      codes.delete(challenge_id);
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
