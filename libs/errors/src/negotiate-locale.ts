import Negotiator from 'negotiator';
import { defaultLocale, isLocale, type Locale, locales } from './locales.ts';

/** Browsers and phones send less than 200 characters; parsing 16 KiB of commas would cost 10 ms and more. */
const maxLength = 1024;

const available = Object.keys(locales);

/**
 * Returns the best of our languages for an `Accept-Language` header, with its q-values (RFC 9110 section 12.5.4).
 * `ru-RU` counts as Russian; English if there is no header or nothing fits. Only the first 1024 characters count.
 */
export function negotiateLocale(acceptLanguage: string | undefined): Locale {
  if (acceptLanguage === undefined) return defaultLocale;
  const language = new Negotiator({ headers: { 'accept-language': acceptLanguage.slice(0, maxLength) } }).language(
    available,
  );
  return isLocale(language) ? language : defaultLocale;
}
