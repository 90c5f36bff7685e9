import type { AppError } from './app-error.ts';
import type { CodeText, MessageText } from './locales/messages.ts';
import { type Locale, locales } from './locales.ts';

/**
 * Returns the text of an error in a language. If the code has a text for the word in the error's details, returns that
 * text. For other codes, and for a word that this version does not know, returns the code's general text.
 */
export function textOf({ code, details }: Pick<AppError, 'code' | 'details'>, locale: Locale): MessageText {
  const text: CodeText = locales[locale][code];
  const given = details as Readonly<Record<string, unknown>>;
  for (const [field, words] of Object.entries(text.variants ?? {})) {
    const variant = Object.entries(words).find(([word]) => word === given[field])?.[1];
    if (variant !== undefined) return variant;
  }
  return text;
}
