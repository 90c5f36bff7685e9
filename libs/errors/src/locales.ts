import { en } from './locales/en.ts';
import type { Messages } from './locales/messages.ts';
import { ru } from './locales/ru.ts';

/** The texts of every code in every language. A code that lacks a text does not compile. */
export const locales = { en, ru } as const satisfies Record<string, Messages>;

export type Locale = keyof typeof locales;

export const defaultLocale: Locale = 'en';

export function isLocale(value: unknown): value is Locale {
  return typeof value === 'string' && Object.hasOwn(locales, value);
}
