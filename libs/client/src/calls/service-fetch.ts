import { AuthError } from '../http/auth-error.ts';
import { parseJson, readError } from '../http/exchange.ts';
import type { Platform } from '../platform/platform.ts';
import type { SessionManager } from '../session/session-manager.ts';
import { wantsRefresh, withAccess } from './call.ts';

/** `fetch` with the access token and `X-Request-ID`, and with one transparent refresh. */
export type ServiceFetch = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Creates the `fetch` for the services of the family. A path goes to the api. A full URL must belong to one of
 * `origins`, because a server that gets the access token can act for the user until the token expires. Raises
 * `CLIENT_FOREIGN_URL` for any other URL, the errors of a refresh, and `ERR-STEP-UP-REQUIRED` for a service's 401,
 * because no refresh helps there. Every other answer is returned as it is.
 */
export function createServiceFetch(
  { fetch, randomUUID }: Pick<Platform, 'fetch' | 'randomUUID'>,
  sessionManager: SessionManager,
  baseUrl: string,
  origins: readonly string[],
): ServiceFetch {
  const isOwn = addressesOf([baseUrl, ...origins]);

  return async (input, init = {}) => {
    const url = input.startsWith('/') ? `${baseUrl}${input}` : input;
    if (!isOwn(url)) throw new AuthError('CLIENT_FOREIGN_URL');

    /** Answers that ask for another access token, by the error that was read from each. */
    const refused = new Map<unknown, Response>();

    async function send(token: string): Promise<Response> {
      const headers = new Headers(init.headers);
      headers.set('Authorization', `Bearer ${token}`);
      if (!headers.has('X-Request-ID')) headers.set('X-Request-ID', randomUUID());
      // A redirect could send the token to another server. A caller who expects a redirect sets `redirect`.
      const response = await fetch(url, { redirect: 'error', ...init, headers });
      if (response.status === 401) {
        // The challenge of RFC 9470 says the same as the body, but a page can't read it from another origin.
        const error = readError(response, parseJson(await response.clone().text()));
        if (error?.code === 'ERR-STEP-UP-REQUIRED') throw error;
        if (wantsRefresh(error) && isReplayable(init.body)) {
          refused.set(error, response);
          throw error;
        }
      }
      return response;
    }

    return withAccess(sessionManager, ({ token }) => send(token)).catch(
      (error) => refused.get(error) ?? Promise.reject(error),
    );
  };
}

/** Returns a function that tests whether a URL belongs to one of the origins. */
export function addressesOf(origins: readonly string[]): (url: string) => boolean {
  const own = origins.map((origin) => origin.replace(/\/+$/, ''));
  return (url) => own.some((origin) => url === origin || url.startsWith(`${origin}/`) || url.startsWith(`${origin}?`));
}

/** A stream can be read only once. */
function isReplayable(body: unknown): boolean {
  return typeof body !== 'object' || body === null || !('getReader' in body);
}
