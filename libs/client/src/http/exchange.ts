import { type Operation, takesProof } from '../generated/operations.ts';
import type { Log, Platform } from '../platform/platform.ts';
import { AuthError, type ClientErrorCode } from './auth-error.ts';
import { printBody } from './typed-input.ts';

/**
 * Upper limit for the time of an answer, in milliseconds. A repeated refresh must not overlap with the earlier one
 * (docs/apps.md, "Refreshing").
 */
const maxTimeoutMs = 20_000;

export interface ExchangeConfig {
  /** URL of the api, without a path: `https://auth.example.com`. */
  readonly baseUrl: string;
  /** `Accept-Language` for the texts of the errors. */
  readonly language: (() => string) | undefined;
  readonly timeoutMs: number | undefined;
}

/** One request. */
export interface Outgoing {
  /** Parameters of the path, in the order of the path. */
  readonly params?: readonly string[] | undefined;
  readonly body?: object | undefined;
  readonly accessToken?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly deviceSecret?: string | undefined;
  /** Ends the exchange early; it then fails with `CLIENT_SUPERSEDED`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends one request and returns the answer's data. Raises {@link AuthError}. The error has the answer's code only if
 * the answer has the contract's shape, because another server on the way may have answered.
 */
export type Exchange = <T>(operation: Operation, outgoing: Outgoing) => Promise<T>;

export function createExchange(
  platform: Platform,
  { baseUrl, language, timeoutMs = 15_000 }: ExchangeConfig,
  log: Log,
): Exchange {
  const { fetch, randomUUID, timers, boundKey } = platform;
  const fetchProven = boundKey?.(platform) ?? fetch;
  const limit = Math.min(timeoutMs, maxTimeoutMs);

  function requestOf(operation: Operation, outgoing: Outgoing, requestId: string, signal: AbortSignal) {
    const { accessToken, idempotencyKey, deviceSecret, body, params = [] } = outgoing;
    const [, method, path] = operation;
    let filled = path;
    for (const param of params) filled = filled.replace(/\{\w+\}/, () => encodeURIComponent(param));
    const headers: Record<string, string> = { Accept: 'application/json', 'X-Request-ID': requestId };
    if (language) headers['Accept-Language'] = language();
    if (accessToken) headers.Authorization = `Bearer ${accessToken}`;
    if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey;
    if (deviceSecret) headers['X-Device-Secret'] = deviceSecret;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const init: RequestInit = { method, headers, signal, credentials: 'omit', redirect: 'error' };
    if (body !== undefined) init.body = printBody(body);
    return [`${baseUrl}${filled}`, init] as const;
  }

  return async <T>(operation: Operation, outgoing: Outgoing): Promise<T> => {
    const requestId = randomUUID();
    const { signal } = outgoing;
    if (signal?.aborted) throw new AuthError('CLIENT_SUPERSEDED', { requestId });
    const abort = new AbortController();
    // A platform's `fetch` may ignore the signal.
    const givenUp = new Promise<never>((_, reject) => abort.signal.addEventListener('abort', reject));
    let lostBy: ClientErrorCode = 'CLIENT_NETWORK';
    const giveUp = (code: ClientErrorCode) => () => {
      lostBy = code;
      abort.abort();
    };
    const stop = giveUp('CLIENT_SUPERSEDED');
    signal?.addEventListener('abort', stop);
    const cancel = timers.after(limit, giveUp('CLIENT_TIMEOUT'));
    async function send(): Promise<T> {
      const carry = operation[3] & takesProof ? fetchProven : fetch;
      const response = await carry(...requestOf(operation, outgoing, requestId, abort.signal));
      // The time limit includes the body, because the body of an answer may never end.
      return readAnswer<T>(response, await response.text(), requestId);
    }
    try {
      return await Promise.race([givenUp, send()]);
    } catch (error) {
      // The platform's own error is dropped, because its text may contain the URL, and a URL may contain an invite's
      // token.
      const failure = error instanceof AuthError ? error : new AuthError(lostBy, { requestId });
      const { status, code } = failure;
      log({ event: 'call_failed', operation: operation[0], status, code, request_id: requestId });
      throw failure;
    } finally {
      cancel();
      signal?.removeEventListener('abort', stop);
    }
  };
}

function readAnswer<T>(response: Response, text: string, requestId: string): T {
  const { status } = response;
  const body = parseJson(text);
  if (response.ok && isRecord(body) && body.status === 'success' && isRecord(body.data)) return body.data as T;
  throw (
    readError(response, body) ??
    new AuthError('CLIENT_UNEXPECTED_ANSWER', { status, requestId, retryAfterMs: pauseOf(response) })
  );
}

/** Returns the error that the body describes, or undefined if the body does not follow the contract. */
export function readError(response: Response, body: unknown): AuthError | undefined {
  const { status } = response;
  if (response.ok || !isRecord(body)) return undefined;
  const { error_code: code, message, details } = body;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof details !== 'object' || details === null)
    return undefined;
  const requestId = response.headers.get('X-Request-ID') ?? undefined;
  const init = { status, message, details: withoutInput(details), requestId, retryAfterMs: pauseOf(response) };
  return new AuthError(code, init);
}

/**
 * Removes the refused email address or token, because it is the caller's own input and must not be in an error that is
 * logged.
 */
function withoutInput(details: object): AuthError['details'] {
  if (Array.isArray(details)) return details;
  const { rejected_email: _email, provided_token: _token, ...kept } = details as Record<string, unknown>;
  return kept;
}

/** Returns `Retry-After` in milliseconds. The service sends whole seconds. */
function pauseOf({ headers }: Response): number | undefined {
  const seconds = headers.get('Retry-After');
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
