import { FakeRefusal } from './fake-logins.ts';
import { type FakeLogin, type FakeRecords, type FakeSession, mailedCode } from './fake-records.ts';

/** A proof of who is there: for the second factor, or a step-up. */
export interface FakeProof {
  readonly method: string;
  readonly password?: string;
  readonly code?: string;
  readonly credential?: { readonly id: string };
}

const lifeMs = 600_000;

/** Returns the time at which a challenge that is made now ends. */
export const challengeEnd = ({ now }: FakeRecords) => new Date(now().getTime() + lifeMs).toISOString();

const trustOf = ({ user_id, device }: FakeLogin) => `trust-${user_id}-${device.device_id}`;

export function trust({ secondFactor, now }: FakeRecords, login: FakeLogin): string {
  const { user_id, device } = login;
  secondFactor.trusts.set(trustOf(login), { user_id, device_id: device.device_id ?? '', at: now() });
  return trustOf(login);
}

/** Returns the devices that the user trusts, the latest first. */
export function trustedDevices({ secondFactor }: FakeRecords, userId: string) {
  const own = [...secondFactor.trusts.values()].filter(({ user_id }) => user_id === userId);
  return own.reverse().map(({ device_id, at }) => ({
    device_id,
    trusted_at: at.toISOString(),
    trusted_until: new Date(at.getTime() + 2_592_000_000).toISOString(),
  }));
}

/** Ends the trust in a user's devices, or in one of them. */
export function endTrust({ secondFactor: { trusts } }: FakeRecords, user_id: string, device_id = ''): void {
  for (const one of trusts.keys()) if (one.startsWith(`trust-${user_id}-${device_id}`)) trusts.delete(one);
}

function hasFactor({ secondFactor: { of, code } }: FakeRecords, user_id: string): boolean {
  return code !== undefined || Boolean(of.get(user_id)?.confirmed_at);
}

export const passkeysBy = ({ passkeys }: FakeRecords, user_id: string) =>
  [...passkeys].filter(([, passkey]) => passkey.user_id === user_id);

/** Returns the methods by which the user can prove who is there, as details of a challenge. */
export function signInMethodsOf(records: FakeRecords, user_id: string, challenge_id: string) {
  const allowed = passkeysBy(records, user_id).map(([id]) => ({ type: 'public-key', id }));
  const codes = records.secondFactor.of.get(user_id)?.recovery_codes ?? [];
  const first = records.users.get(user_id)?.password ? ['password'] : [];
  const own = hasFactor(records, user_id) ? ['totp', ...(codes.length > 0 ? ['recovery_code'] : [])] : first;
  const options = { timeout: lifeMs, rpId: 'auth.test', userVerification: 'required', allowCredentials: allowed };
  return allowed.length === 0
    ? { methods: own.length > 0 ? own : ['email_code'] }
    : { methods: [...own, 'passkey'], passkey_options: { challenge: challenge_id, ...options } };
}

/** Keeps the login and refuses it, if it needs the second factor. */
export function demandSecondFactor(records: FakeRecords, login: FakeLogin, token: string | undefined): void {
  const { user_id } = login;
  const { logins, trusts } = records.secondFactor;
  if (!hasFactor(records, user_id) || (token === trustOf(login) && trusts.has(token))) return;
  const challenge_id = records.newId();
  logins.set(challenge_id, login);
  const signInMethods = signInMethodsOf(records, user_id, challenge_id);
  const details = { challenge_id, ...signInMethods, expires_at: challengeEnd(records) };
  throw new FakeRefusal(403, 'ERR-SECOND-FACTOR-REQUIRED', details);
}

const bare = (code: string) => code.replace(/\W/g, '').toUpperCase();
/** Returns true if both are the same recovery code. Hyphens and small letters do not matter. */
const isSame = (one: string, other: string) => bare(one) === bare(other);

/** Refuses a wrong proof. A recovery code is used up. */
export function assertProof(records: FakeRecords, user_id: string, proof: FakeProof): void {
  const { method, password, code = '', credential } = proof;
  const factor = records.secondFactor.of.get(user_id);
  if (method === 'password') {
    if (records.users.get(user_id)?.password !== password) throw new FakeRefusal(403, 'ERR-REAUTHENTICATION-FAILED');
  } else if (method === 'email_code') {
    if (code !== mailedCode) throw new FakeRefusal(403, 'ERR-CODE-INVALID', { tries_left: 4 });
  } else if (method === 'passkey') {
    if (records.passkeys.get(credential?.id ?? '')?.user_id !== user_id)
      throw new FakeRefusal(403, 'ERR-PASSKEY-INVALID');
  } else if (method === 'recovery_code' && factor?.recovery_codes.some((one) => isSame(one, code))) {
    factor.recovery_codes = factor.recovery_codes.filter((one) => !isSame(one, code));
  } else if (method !== 'totp') throw new FakeRefusal(403, 'ERR-SECOND-FACTOR-INVALID', { tries_left: 4 });
  else assertCode(records, code);
}

/** Refuses to remove a passkey or an identity if it is the user's last sign-in method. */
export function assertNotLast(records: FakeRecords, user_id: string): void {
  const others =
    records.identities.filter((one) => one.user_id === user_id).length + passkeysBy(records, user_id).length;
  if (!records.users.get(user_id)?.password && others < 2) throw new FakeRefusal(409, 'ERR-LAST-CREDENTIAL');
}

/** Refuses a wrong code of an authenticator app. */
export function assertCode({ secondFactor }: FakeRecords, code: string): void {
  const isRight = secondFactor.code === undefined ? /^(?!000000)\d{6}$/.test(code) : code === secondFactor.code;
  if (!isRight) throw new FakeRefusal(403, 'ERR-SECOND-FACTOR-INVALID', { tries_left: 4 });
}

/** Refuses an operation that asks who is there, unless its body has the password or a step-up token that counts. */
export function assertReauthenticated(
  records: FakeRecords,
  { session_id, user_id }: FakeSession,
  body: { readonly current_password?: string; readonly step_up_token?: string },
  purpose: string,
): void {
  const { current_password: password = '', step_up_token: token } = body;
  const { methods } = signInMethodsOf(records, user_id, '');
  const stepUp = records.stepUps.get(token ?? '');
  const isProved = stepUp?.isProved && stepUp.session_id === session_id && stepUp.purpose === purpose;
  if (token === undefined ? !methods.includes('password') : !isProved)
    throw new FakeRefusal(403, 'ERR-STEP-UP-REQUIRED', { methods, max_age: 300 });
  if (token === undefined) assertProof(records, user_id, { method: 'password', password });
  else records.stepUps.delete(token);
}
