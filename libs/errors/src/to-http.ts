import type { AppError } from './app-error.ts';
import { rowOf } from './catalogue.ts';
import type { Locale } from './locales.ts';
import { textOf } from './text-of.ts';
import type { ValidationItem } from './validation-item.ts';

export interface HttpErrorBody {
  error_code: string;
  message: string;
  details: Record<string, unknown> | ValidationItem[];
}

export interface HttpError {
  status: number;
  headers: Record<string, string>;
  body: HttpErrorBody;
}

/**
 * Returns the HTTP answer to an error: status, headers, and a body with exactly `error_code`, `message` and `details`.
 * Cause and stack are left out. `X-Error-Code` names the canonical row. A `WWW-Authenticate` among the error's own
 * headers replaces the row's, because RFC 6750 section 3.1 wants no error word if no token was sent.
 *
 * @example
 * const { status, headers, body } = toHttp(error, { locale: negotiateLocale(request.headers['accept-language']) });
 */
export function toHttp(error: AppError, options: { locale: Locale }): HttpError {
  const text = textOf(error, options.locale);
  return {
    status: error.status,
    headers: headersOf(error, options.locale),
    body: { error_code: error.code, message: text.message, details: detailsOf(error, text.action) },
  };
}

function detailsOf(error: AppError, action: string): HttpErrorBody['details'] {
  const details: unknown = error.details;
  // Copied field by field, because other fields of an item, such as a rejected value, must not be sent.
  if (Array.isArray(details))
    return details.map(({ loc, msg, type }: ValidationItem) => ({ loc: [...loc], msg, type }));
  return { ...(details as Record<string, unknown>), action };
}

function headersOf(error: AppError, locale: Locale): Record<string, string> {
  const own: Record<string, string> = { 'Content-Language': locale };
  const { challenge } = rowOf(error.code);
  if (error.canonical !== undefined) own['X-Error-Code'] = error.canonical;
  if (error.retryAfterSeconds !== undefined) own['Retry-After'] = String(error.retryAfterSeconds);
  const given = Object.entries(error.headers);
  if (challenge !== undefined && error.status === 401 && findHeader(given, 'WWW-Authenticate') === undefined)
    own['WWW-Authenticate'] = challenge;
  own.Vary = varyWith(findHeader(given, 'Vary'));
  // X-Error-Code never comes from the thrower's headers, even if this error has no canonical code.
  const taken = new Set(['X-Error-Code', ...Object.keys(own)].map((name) => name.toLowerCase()));
  const further = given.filter(([name]) => !taken.has(name.toLowerCase()));
  return { ...Object.fromEntries(further), ...own };
}

function findHeader(headers: [string, string][], name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}

function varyWith(given: string | undefined): string {
  if (given === undefined || given.trim() === '') return 'Accept-Language';
  const names = given.split(',').map((name) => name.trim().toLowerCase());
  return names.includes('accept-language') || names.includes('*') ? given : `${given}, Accept-Language`;
}
