import { AppError } from '@auth-account/errors';
import { leewaySeconds, type VerifiedAccessToken } from './access-token/access-token-verifier.ts';

/** Requirements of a route or a call that needs more than a valid token: a recent proof, or two factors. */
export interface Requirements {
  /** The longest time since the user last proved who is there, in whole seconds. A refresh does not renew it. */
  readonly maxAge?: number | undefined;
  /** The least level of the proof: `1` is one factor, `2` is two, or a passkey with user verification. */
  readonly acr?: Acr | undefined;
}

type Acr = '1' | '2';

/** From the lowest to the highest. */
const levels: readonly string[] = ['1', '2'] satisfies Acr[];

/** The level of tokens without `acr`, which older releases have signed after a login by password. */
const levelBefore = '1';

/**
 * Returns the requirements. Throws a `TypeError` if a member is unknown or has no valid value, because a misspelled
 * requirement would let every token pass.
 */
export function checkedRequirements(requirements: Requirements = {}): Requirements {
  const { maxAge, acr, ...unknown } = requirements;
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw new TypeError(`${name} is no requirement: they are maxAge and acr`);
  if (maxAge !== undefined && !(Number.isSafeInteger(maxAge) && maxAge >= 0))
    throw new TypeError('maxAge must be a whole number of seconds');
  if (acr !== undefined && !levels.includes(acr)) throw new TypeError(`acr must be one of ${levels.join(', ')}`);
  return requirements;
}

/**
 * Throws `ERR-STEP-UP-REQUIRED` (401) if the token falls short of the requirements, with the challenge of RFC 9470
 * section 3. A token without `auth_time` falls short of every `maxAge`.
 */
export function assertMeets(token: VerifiedAccessToken, requirements: Requirements, nowMs: number): void {
  const { maxAge, acr } = checkedRequirements(requirements);
  const isLow = acr !== undefined && levelOf(token.acr ?? levelBefore) < levelOf(acr);
  const isOld = maxAge !== undefined && !isRecent(token.auth_time, maxAge, nowMs);
  if (!isLow && !isOld) return;
  const description = isLow ? 'A different authentication level is required' : 'More recent authentication is required';
  const asked = {
    ...(maxAge !== undefined && { max_age: maxAge }),
    ...(acr !== undefined && { acr_values: acr }),
  };
  const parameters = Object.entries({
    error: 'insufficient_user_authentication',
    error_description: description,
    ...asked,
  }).map(([name, value]) => `${name}="${value}"`);
  throw new AppError('ERR-STEP-UP-REQUIRED', {
    status: 401,
    details: asked,
    headers: { 'WWW-Authenticate': `Bearer ${parameters.join(', ')}` },
  });
}

/** Returns the rank of a level. A level that this version does not know is below every other. */
function levelOf(acr: string): number {
  return levels.indexOf(acr);
}

function isRecent(authTime: number | undefined, maxAge: number, nowMs: number): boolean {
  return authTime !== undefined && authTime + maxAge > Math.floor(nowMs / 1_000) - leewaySeconds;
}
