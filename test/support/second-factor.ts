import { totpCode } from '../../services/api/src/security/totp.ts';
import { password } from './accounts.ts';
import { bearer, type Caller } from './groups.ts';
import type { TestApi } from './test-api.ts';

type FactorApi = Pick<TestApi, 'post'>;

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

export interface Enrolment {
  readonly factor_id: string;
  readonly secret: string;
}

/** Begins to add an authenticator app. Throws if the answer is not 201. */
export async function beginTotp(on: FactorApi, caller: Caller): Promise<Enrolment> {
  const answer = await on.post('/api/v1/account/totp', { current_password: password }, bearer(caller));
  if (answer.status !== 201) throw new Error(`totp answered ${answer.status}: ${answer.text}`);
  return answer.json.data;
}

/** Switches the second factor on, with the code of the step before the present one. Throws if the answer is not 200. */
export async function switchOn(on: FactorApi, caller: Caller, at = Date.now()) {
  const { factor_id, secret } = await beginTotp(on, caller);
  const body = { factor_id, code: codeAt(secret, at, -1) };
  const answer = await on.post('/api/v1/account/totp/confirm', body, bearer(caller));
  if (answer.status !== 200) throw new Error(`totp/confirm answered ${answer.status}: ${answer.text}`);
  return { secret, recovery_codes: answer.json.data.recovery_codes as readonly string[] };
}
