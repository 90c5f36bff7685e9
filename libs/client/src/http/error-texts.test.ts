import { locales } from '@auth-account/errors';
import { afterEach, expect, test } from '@jest/globals';
import { AuthError } from './auth-error.ts';
import { addTexts, boundKeyTexts, clientTexts, passkeyTexts, type RaisedCode, speak } from './error-texts.ts';

const added = { ...passkeyTexts, ...boundKeyTexts };
addTexts(added);
afterEach(() => speak(() => undefined));

const all: Readonly<Record<RaisedCode, readonly [en: string, ru: string]>> = { ...clientTexts, ...added };

test.each(Object.keys(all) as RaisedCode[])('the error %s has a text for people in each language', (code) => {
  const [en, ru] = all[code];
  expect(en).toMatch(/^[a-z’ .]+\.$/i);
  expect(ru).toMatch(/^[а-яё ,.-]+\.$/i);
  expect(new AuthError(code).message).toBe(en);
  for (const [language, text] of [
    ['ru', ru],
    ['ru-RU,ru;q=0.9,en;q=0.8', ru],
    ['kk, ru;q=0.9, en;q=0.5', ru],
    ['en-RU', en],
    ['de', en],
  ]) {
    speak(() => language);
    expect([language, new AuthError(code).message]).toEqual([language, text]);
  }
});

test('a device that has a passkey already says so in the words of the service', () => {
  const code = 'ERR-PASSKEY-EXISTS';
  expect(all[code]).toEqual([locales.en[code].message, locales.ru[code].message]);
});

test('a code without a text does not compile', () => {
  // @ts-expect-error
  expect(new AuthError('CLIENT_NEW').message).toBe('CLIENT_NEW');
});
