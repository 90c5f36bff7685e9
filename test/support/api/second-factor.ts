import { totpCode } from '../../../services/api/src/security/totp.ts';
import type { Answer } from '../http-client.ts';
import { newSession, password } from './accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from './api-driver.ts';
import { codeOf } from './codes.ts';
import type { GroupApi } from './groups.ts';
import { challengeStepUp, confirmStepUp } from './step-up.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the bytes of a seed in base32. */
export function seedOf(secret: string): Buffer {
  const bits = [...secret].map((char) => alphabet.indexOf(char).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Returns the code that an authenticator app shows, or the code of a later step. */
export function codeAt(secret: string, at = Date.now(), later = 0): string {
  return totpCode(seedOf(secret), Math.floor(at / 30_000) + later);
}

/** Returns a code that is none of the codes that count now. */
export function wrongCodeFor(secret: string, at = Date.now()): string {
  const near = [-2, -1, 0, 1, 2].map((later) => codeAt(secret, at, later));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code)) ?? '';
}

/** Begins to add an authenticator app. Throws if the answer is not 201. */
export function beginTotp(on: ApiDriver, caller: Caller): Promise<Record<'factor_id' | 'secret', string>> {
  return dataOf(on.createTotp({ current_password: password }, bearer(caller)), 201);
}

/** Switches the second factor on with the present `code`, which is then used up. Throws if the answer is not 200. */
export async function switchOn(on: ApiDriver, caller: Caller, at = Date.now()) {
  const { factor_id, secret } = await beginTotp(on, caller);
  const code = codeAt(secret, at);
  const { recovery_codes } = await dataOf(on.confirmTotp({ factor_id, code }, bearer(caller)));
  return { secret, code, recovery_codes: recovery_codes as readonly string[] };
}

/** An account whose second factor is on, with its first session. */
export type GuardedAccount = Awaited<ReturnType<typeof guardedAccount>>;

/** Registers, logs in and switches the second factor on. */
export async function guardedAccount(on: ApiDriver, at = Date.now()) {
  const session = await newSession(on, { device_id: crypto.randomUUID() });
  return { ...session, ...(await switchOn(on, session, at)) };
}

/** Logs in with the right password. Returns the challenge. Throws if the answer demands no second factor. */
export async function beginLogin(on: ApiDriver, email: string, fields: object = {}): Promise<string> {
  const answer = await on.logIn({ email, password, ...fields });
  if (answer.json.error_code !== 'ERR-SECOND-FACTOR-REQUIRED') throw new Error(`login answered ${answer.text}`);
  return answer.json.details.challenge_id;
}

/** Confirms a challenge. */
export function completeLogin(on: ApiDriver, challenge_id: string, fields: object): Promise<Answer> {
  return on.confirmSecondFactor({ challenge_id, method: 'totp', ...fields });
}

/** Returns a step-up token by a code of the app. Throws if it gets none. */
export async function stepUpBy(on: ApiDriver, caller: Caller, purpose: string, code: string): Promise<string> {
  const challenge_id = await challengeStepUp(on, caller, purpose);
  return (await dataOf(confirmStepUp(on, caller, challenge_id, { method: 'totp', code }))).step_up_token;
}

/** Asks for a code to remove the second factor. Throws if the answer is not 202. */
export async function requestRemoval(on: ApiDriver, email: string): Promise<string> {
  return (await dataOf(on.requestSecondFactorRemoval({ email }), 202)).challenge_id;
}

/** Confirms a challenge with the right code. */
export async function confirmRemoval(on: GroupApi, challenge_id: string): Promise<Answer> {
  return on.confirmSecondFactorRemoval({ challenge_id, code: await codeOf(on, challenge_id) });
}

/** Orders the removal of the second factor, and returns its time. Throws if the answer is not 200. */
export async function orderRemoval(on: GroupApi, email: string): Promise<Date> {
  return new Date((await dataOf(confirmRemoval(on, await requestRemoval(on, email)))).due_at);
}

/** Stops the removal with the token of its mail. */
export const stopByToken = (on: ApiDriver, stop_token: string): Promise<Answer> =>
  on.stopSecondFactorRemoval({ stop_token });

/** Stops the removal by a session. */
export const stopBySession = (on: ApiDriver, caller: Caller): Promise<Answer> =>
  on.deleteSecondFactorRemoval(bearer(caller));
