import Negotiator from 'negotiator';
import { defaultLocale, isLocale, type Locale, locales } from './locales.ts';

/**
 * Number of characters that are read. Browsers and phones send fewer than 200, and parsing 16 KiB of commas would take
 * 10 ms or more.
 */
const maxLength = 1024;

const available = Object.keys(locales);

/**
 * Returns the best of our languages for an `Accept-Language` header, with its q-values (RFC 9110 section 12.5.4).
 * `ru-RU` counts as Russian. Returns English if there is no header or no language fits. Reads only the first 1024
 * characters.
 */
export function negotiateLocale(acceptLanguage: string | undefined): Locale {
  if (acceptLanguage === undefined) return defaultLocale;
  const language = new Negotiator({ headers: { 'accept-language': acceptLanguage.slice(0, maxLength) } }).language(
    available,
  );
  return isLocale(language) ? language : defaultLocale;
}
