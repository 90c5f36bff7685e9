import { isAppError } from '@auth-account/errors';
import { describe, expect, test } from '@jest/globals';
import type { VerifiedAccessToken } from './access-token/index.ts';
import { assertMeets, checkedRequirements, type Requirements } from './requirements.ts';

const provedAt = 1_800_000_000;
const token = (proof: Partial<VerifiedAccessToken> = {}): VerifiedAccessToken => ({
  user_id: 'u',
  home_group_id: 'g',
  account_type: 'HOME',
  sid: 's',
  ver: 1,
  device_id: 'd',
  exp: provedAt + 9_999,
  ...proof,
});

/** Returns the challenge of the refusal, or undefined if the token meets the requirements. */
function refusalOf(proof: Partial<VerifiedAccessToken>, requirements: Requirements, age = 0) {
  try {
    assertMeets(token(proof), requirements, (provedAt + age) * 1_000 + 999);
    return;
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { code, status, details, headers } = error;
    return { code, status, details, challenge: headers['WWW-Authenticate'] };
  }
}

test.each<[string, Partial<VerifiedAccessToken>, Requirements, number, boolean]>([
  ['nothing is asked', {}, {}, 9_999, true],
  ['only undefined is asked', {}, { maxAge: undefined, acr: undefined }, 9_999, true],
  ['two factors, and two are asked', { acr: '2' }, { acr: '2' }, 0, true],
  ['two factors, and one is asked', { acr: '2' }, { acr: '1' }, 0, true],
  ['one factor, and one is asked', { acr: '1' }, { acr: '1' }, 0, true],
  ['an older token, and one factor is asked', {}, { acr: '1' }, 0, true],
  ['one factor, and two are asked', { acr: '1' }, { acr: '2' }, 0, false],
  ['an older token, and two factors are asked', {}, { acr: '2' }, 0, false],
  ['a level that nobody knows', { acr: 'phr' }, { acr: '1' }, 0, false],
  ['a level that only looks higher', { acr: '10' }, { acr: '2' }, 0, false],
  ['a proof of just now', { auth_time: provedAt }, { maxAge: 0 }, 0, true],
  ['a proof within the leeway', { auth_time: provedAt }, { maxAge: 300 }, 304, true],
  ['a proof past the leeway', { auth_time: provedAt }, { maxAge: 300 }, 305, false],
  ['an old proof, and none is asked', { auth_time: provedAt }, { acr: '1' }, 9_999, true],
  ['an older token, and its age is asked', {}, { maxAge: 9_999 }, 0, false],
  ['two factors of long ago', { auth_time: provedAt, acr: '2' }, { acr: '2', maxAge: 300 }, 400, false],
  ['one factor of just now', { auth_time: provedAt, acr: '1' }, { acr: '2', maxAge: 300 }, 0, false],
  ['two factors of just now', { auth_time: provedAt, acr: '2' }, { acr: '2', maxAge: 300 }, 0, true],
])('a proof is judged by the requirements: %s', (_what, proof, requirements, age, isGood) => {
  expect(refusalOf(proof, requirements, age) === undefined).toBe(isGood);
});

describe('challenges of RFC 9470', () => {
  const start = 'Bearer error="insufficient_user_authentication", error_description=';
  const code = 'ERR-STEP-UP-REQUIRED';

  test('the refusal for a level and an age has the challenge of RFC 9470', () => {
    expect(refusalOf({ auth_time: provedAt, acr: '1' }, { maxAge: 300, acr: '2' })).toEqual({
      code,
      status: 401,
      details: { max_age: 300, acr_values: '2' },
      challenge: `${start}"A different authentication level is required", max_age="300", acr_values="2"`,
    });
  });

  test('the refusal for an age alone has the challenge of RFC 9470', () => {
    expect(refusalOf({ acr: '2' }, { maxAge: 0 })).toEqual({
      code,
      status: 401,
      details: { max_age: 0 },
      challenge: `${start}"More recent authentication is required", max_age="0"`,
    });
  });

  test('the refusal for a level alone has the challenge of RFC 9470', () => {
    expect(refusalOf({ auth_time: provedAt }, { acr: '2' })).toMatchObject({
      details: { acr_values: '2' },
      challenge: `${start}"A different authentication level is required", acr_values="2"`,
    });
  });
});

test.each([
  [{ max_age: 300 }, 'max_age is no requirement'],
  [{ acr: 2 }, 'acr must be one of 1, 2'],
  [{ acr: '3' }, 'acr must be one of 1, 2'],
  [{ acr: null }, 'acr must be one of 1, 2'],
  [{ maxAge: '300' }, 'maxAge must be a whole number of seconds'],
  [{ maxAge: Number.NaN }, 'maxAge must be a whole number of seconds'],
  [{ maxAge: -1 }, 'maxAge must be a whole number of seconds'],
  [{ maxAge: 1.5 }, 'maxAge must be a whole number of seconds'],
])('the requirement %j is refused, because every token would pass', (requirements, message) => {
  expect(() => checkedRequirements(requirements as Requirements)).toThrow(message);
  expect(() => assertMeets(token(), requirements as Requirements, 0)).toThrow(TypeError);
});
