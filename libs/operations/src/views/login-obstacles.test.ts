import { type AccountCounts, factorTryLimits, sharedTotal } from '@auth-account/redis';
import type { UserDocument } from '@auth-account/stores/documents';
import { expect, test } from '@jest/globals';
import { judgeLogins } from './login-obstacles.ts';

const now = new Date('2026-11-30T12:00:00Z');
const user = { email: 'anna@example.com', created_at: now } as UserDocument;
const withFactor = { ...user, totp: { confirmed_at: now } } as UserDocument;
const none = { unknown: 0, known: 0, since: 0 };
const counts: AccountCounts = {
  ...{ tag: 'tag', wrongPasswords: none, wrongFactors: none, failures: [], loginFrom: 0 },
  ...{ factorTries: [], codes: [], places: 0, knownWithFailures: 0 },
};
const judge = (who: UserDocument, changed: Partial<AccountCounts>, rules = {}) =>
  judgeLogins(who, { ...counts, ...changed }, rules, now);
const works = { works: true, obstacles: [] };

test('an unverified email address is an obstacle only if the apis demand a verified one', () => {
  expect(judge(user, {})).toEqual(works);
  expect(judge(user, {}, { verified_email: false })).toEqual(works);
  const obstacles = [{ kind: 'email_not_verified' }];
  expect(judge(user, {}, { verified_email: true })).toEqual({ works: false, obstacles });
  expect(judge({ ...user, email_verified_at: now }, {}, { verified_email: true })).toEqual(works);
});

test('wrong passwords are too many from the total on that the api counts to', () => {
  expect(judge(user, { wrongPasswords: { ...none, unknown: sharedTotal - 1 } })).toEqual(works);
  const obstacles = [{ kind: 'too_many_wrong_passwords' }];
  expect(judge(user, { wrongPasswords: { ...none, unknown: sharedTotal } })).toEqual({ works: false, obstacles });
});

test('a day with too many wrong passwords locks for a day from the oldest of them that counts', () => {
  const failures = [3, 2, 1].map((hours) => now.getTime() - hours * 3_600_000).reverse();
  const until = new Date(now.getTime() + 21 * 3_600_000);
  const obstacles = [{ kind: 'locked_elsewhere', until }];
  expect(judge(user, { failures }, { wrong_passwords_a_day: 3 })).toEqual({ works: false, obstacles });
  expect(judge(user, { failures }, { wrong_passwords_a_day: 4 })).toEqual(works);
  expect(judge(user, { failures })).toEqual(works);
});

test('wrong second factors lock until their window is over, or for good, and a recovery begins them anew', () => {
  const { perWindow, windowMs, perDay } = factorTryLimits;
  const factorTries = Array.from({ length: perWindow }, (_, index) => now.getTime() - index * 1_000);
  const locked = (until: Date | null) => ({ works: false, obstacles: [{ kind: 'too_many_wrong_factors', until }] });
  const oldest = factorTries.at(-1) ?? 0;
  expect(judge(withFactor, { factorTries })).toEqual(locked(new Date(oldest + windowMs)));
  expect(judge(withFactor, { factorTries: factorTries.slice(1) })).toEqual(works);
  expect(judge(user, { factorTries })).toEqual(works);
  const many = Array.from({ length: perDay }, (_, index) => now.getTime() - (index + 1) * 800_000);
  expect(judge(withFactor, { factorTries: many })).toEqual(locked(new Date((many.at(-1) ?? 0) + 86_400_000)));
  const wrongFactors = { ...none, unknown: sharedTotal, since: 1 };
  expect(judge(withFactor, { wrongFactors })).toEqual(locked(null));
  expect(judge({ ...withFactor, recovered_at: now }, { wrongFactors })).toEqual(works);
});
