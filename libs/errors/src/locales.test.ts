import { describe, expect, test } from '@jest/globals';
import { type ErrorCode, errorCodes } from './catalogue.ts';
import type { CodeText, MessageText } from './locales/messages.ts';
import { isLocale, type Locale, locales } from './locales.ts';
import { negotiateLocale } from './negotiate-locale.ts';
import { notice } from './notice.ts';

describe('texts of the catalogue', () => {
  /** Returns every text of a code: its own text and its variants. */
  function textsOf(locale: Locale, code: ErrorCode): string[] {
    const text: CodeText = locales[locale][code];
    const variants: MessageText[] = Object.values(text.variants ?? {}).flatMap((words) => Object.values(words));
    return [text, ...variants].flatMap(({ message, action }) => [message, action]);
  }

  test.each(errorCodes)('the text of %s reads as a sentence in both languages', (code) => {
    for (const text of textsOf('en', code)) expect(text).toMatch(/^[A-Z][ -~]+\.$/);
    for (const text of textsOf('ru', code)) expect(text).toMatch(/^[А-ЯЁ].*[а-яё].*\.$/);
  });

  test.each(errorCodes)('the text of %s has no placeholder for a value of the request', (code) => {
    for (const text of [...textsOf('en', code), ...textsOf('ru', code)]) {
      expect(text).not.toMatch(/[{}<>%$]|undefined/);
    }
  });

  test.each([
    ['en', /protect|someone else/],
    ['ru', /защитить|кто-то другой/],
  ] as const)('only a reused refresh token mentions theft (%s)', (locale, theft) => {
    const { variants, ...own } = locales[locale].IAD_JWT_REFRESH_STOLEN;
    const speaking = Object.entries({ ...variants.reason, none: own }).filter(([, { message, action }]) =>
      theft.test(`${message} ${action}`),
    );
    expect(speaking.map(([reason]) => reason)).toEqual(['reused']);
  });
});

test.each<[unknown, boolean]>([
  ['en', true],
  ['ru', true],
  ['de', false],
  ['toString', false],
  [['en'], false],
  [undefined, false],
])('%j is a supported language: %s', (value, expected) => {
  expect(isLocale(value)).toBe(expected);
});

describe('negotiateLocale', () => {
  test.each([
    [undefined, 'en'],
    ['', 'en'],
    ['ru', 'ru'],
    ['ru-RU', 'ru'],
    ['RU', 'ru'],
    ['ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7', 'ru'],
    ['en;q=0.5, ru;q=0.6', 'ru'],
    ['en-GB, ru;q=0.9', 'en'],
    ['de, fr;q=0.9', 'en'],
    ['de, ru;q=0.1', 'ru'],
    ['*', 'en'],
    ['en;q=0, *', 'ru'],
    ['ru;q=0', 'en'],
    ['ru;q=abc', 'en'],
    [';;;,,,', 'en'],
    ['__proto__', 'en'],
  ])('negotiateLocale answers %j with %s', (header, locale) => {
    expect(negotiateLocale(header)).toBe(locale);
  });

  test('negotiateLocale looks at the first 1024 characters only', () => {
    expect(negotiateLocale(`${'de,'.repeat(300)}ru`)).toBe('ru');
    expect(negotiateLocale(`${'de,'.repeat(400)}ru`)).toBe('en');
  });
});

describe('notice', () => {
  test('the notice offers the masked minus in the language of the user', () => {
    expect(notice('INV_STOCK_MASKED_MINUS', { locale: 'ru' })).toEqual({
      code: 'INV_STOCK_MASKED_MINUS',
      ...locales.ru.INV_STOCK_MASKED_MINUS,
      reaction: 'SHOW_ZERO_STOCK',
    });
  });
});
