import { wantsRefresh } from '../calls/call.ts';
import { addressesOf } from '../calls/service-fetch.ts';
import type { AuthClient } from '../create-auth-client.ts';
import { AuthError } from '../http/auth-error.ts';
import { isRecord, parseJson } from '../http/exchange.ts';
import { randomUUID } from '../platform/default-platform.ts';

/** The part of a request's config that the interceptors use. */
export interface AxiosConfig {
  // biome-ignore lint/suspicious/noExplicitAny: axios has a class of its own for it, which has headers as properties too
  headers: any;
  data?: unknown;
  maxRedirects?: number;
}

/** The part of `axios`, or of an instance of it, that the interceptors use. */
export interface Axios<C extends AxiosConfig, R> {
  readonly interceptors: {
    readonly request: { use(onSend: (config: C) => Promise<C>): number };
    readonly response: { use(onSuccess: (response: R) => R, onFailure: (error: unknown) => Promise<R>): number };
  };
  getUri(config: C): string;
  request(config: C): Promise<R>;
}

/** A request that left with the client's token. */
interface Sent {
  readonly token: string;
  readonly session: string | undefined;
  readonly hasOwnId: boolean;
}

/**
 * Gives the requests of an axios instance to these origins the access token and an `X-Request-ID`, follows no redirect
 * with them on Node, and renews a token that is refused: once for all requests under way, each of which is repeated
 * once. A request with an `Authorization` of its own stays as it is. Add it before your own interceptors: axios runs the
 * later ones first, and what they change of the address is seen here.
 *
 * A request fails with `CLIENT_SIGNED_OUT` without a session, with `CLIENT_SUPERSEDED` if another one has begun
 * meanwhile, and with what a refresh raises.
 */
export function attachAuth<C extends AxiosConfig, R>(
  axios: Axios<C, R>,
  client: Pick<AuthClient, 'state' | 'accessToken'>,
  origins: readonly string[],
): void {
  const isOwn = addressesOf(origins);
  const sent = new WeakMap<object, Sent>();
  const session = () => {
    const state = client.state();
    return state.status === 'signed_in' ? state.session.session_id : undefined;
  };

  async function send(config: C): Promise<C> {
    // A repeated request has its token already, and is not repeated again.
    if (!isOwn(axios.getUri(config)) || has(config.headers, 'authorization')) return config;
    const before = session();
    const token = await client.accessToken();
    if (before !== undefined && before !== session()) throw new AuthError('CLIENT_SUPERSEDED');
    const hasOwnId = has(config.headers, 'x-request-id');
    if (!hasOwnId) config.headers['X-Request-ID'] = randomUUID();
    config.headers.Authorization = `Bearer ${token}`;
    // A redirect could lead the token elsewhere.
    config.maxRedirects ??= 0;
    sent.set(config, { token, session: session(), hasOwnId });
    return config;
  }

  async function repeat(failure: unknown): Promise<R> {
    const { config, response } = failure as { readonly config?: C; readonly response?: Answer };
    const first = config && sent.get(config);
    if (!first || !isRefusal(response) || !isReplayable(config.data)) throw failure;
    const token = await client.accessToken(first.token);
    if (first.session !== session()) throw new AuthError('CLIENT_SUPERSEDED');
    config.headers.Authorization = `Bearer ${token}`;
    if (!first.hasOwnId) config.headers['X-Request-ID'] = randomUUID();
    return axios.request(config);
  }

  axios.interceptors.request.use(send);
  axios.interceptors.response.use((response) => response, repeat);
}

interface Answer {
  readonly status: number;
  readonly data: unknown;
}

/** Returns true if the service asks for another access token. */
function isRefusal(response: Answer | undefined): boolean {
  if (response?.status !== 401) return false;
  const body = typeof response.data === 'string' ? parseJson(response.data) : response.data;
  return isRecord(body) && typeof body.error_code === 'string' && wantsRefresh(new AuthError(body.error_code));
}

function has(headers: object, name: string): boolean {
  return Object.entries(headers).some(([key, value]) => key.toLowerCase() === name && Boolean(value));
}

/** A stream can be read once only. */
function isReplayable(body: unknown): boolean {
  return typeof body !== 'object' || body === null || !('getReader' in body || 'pipe' in body);
}
