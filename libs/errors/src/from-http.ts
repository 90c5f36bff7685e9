import { AppError } from './app-error.ts';
import { restoreError } from './restore-error.ts';

export interface HttpFailure {
  status: number;
  /** A `Headers` object, or a plain object like that of Node's requests. */
  headers?: { get(name: string): string | null } | Readonly<Record<string, string | string[] | undefined>> | undefined;
  /** Parsed JSON body; any value if the peer did not send JSON. */
  body: unknown;
  /** For logs, for example the response itself. */
  cause?: unknown;
}

/**
 * Restores the AppError from the HTTP answer of a service of this family. This is the opposite of `toHttp`.
 *
 * An answer with an unknown code, or with a body of another format, never becomes an error that a client acts upon,
 * because a proxy's 401 must not log the user out. Such an answer is mapped by its status: 429 to ERR-RATE-LIMITED,
 * 502, 503 and 504 to ERR-DEPENDENCY-UNAVAILABLE, and all others to ERR-INTERNAL, with the answer as the cause.
 *
 * @example
 * if (!response.ok) throw fromHttp({ status: response.status, headers: response.headers, body: await response.json() });
 */
export function fromHttp(failure: HttpFailure): AppError {
  const body = (failure.body ?? {}) as Record<string, unknown>;
  const cause = failure.cause ?? failure;
  const retryAfterSeconds = secondsOf(headerOf(failure, 'Retry-After'));
  const restored = restoreError({
    code: body.error_code,
    details: body.details,
    canonical: headerOf(failure, 'X-Error-Code'),
    status: failure.status,
    retryAfterSeconds,
    cause,
  });
  return restored ?? new AppError(codeOf(failure.status), { retryAfterSeconds, cause });
}

function codeOf(status: number) {
  if (status === 429) return 'ERR-RATE-LIMITED';
  return [502, 503, 504].includes(status) ? 'ERR-DEPENDENCY-UNAVAILABLE' : 'ERR-INTERNAL';
}

/** Reads only seconds, because services of this catalogue send no dates in `Retry-After`. */
function secondsOf(retryAfter: string | undefined): number | undefined {
  return retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}

function headerOf({ headers }: HttpFailure, name: string): string | undefined {
  if (headers === undefined) return undefined;
  if (hasGet(headers)) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  return Array.isArray(value) ? value[0] : value;
}

function hasGet(headers: object): headers is { get(name: string): string | null } {
  return 'get' in headers && typeof headers.get === 'function';
}
