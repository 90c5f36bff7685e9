import { wantsRefresh } from '../calls/call.ts';
import { addressesOf } from '../calls/service-fetch.ts';
import type { AuthClient } from '../create-auth-client.ts';
import { AuthError } from '../http/auth-error.ts';
import { isRecord, parseJson } from '../http/exchange.ts';
import { randomUUID } from '../platform/default-platform.ts';

// biome-ignore lint/suspicious/noExplicitAny: axios' own types, of which this package has none
type Foreign = any;

/** The part of a request's config that the interceptors use. */
export interface AxiosConfig {
  /** An object of axios' own in its version 1, which has the headers as properties too. */
  headers?: Foreign;
  data?: unknown;
  maxRedirects?: number;
}

/** The part of `axios`, or of an instance of it, that the interceptors use. */
export interface Axios {
  readonly interceptors: {
    readonly request: { use(onSend: (config: Foreign) => Promise<Foreign>): number };
    readonly response: { use(onSuccess: undefined, onFailure: (error: unknown) => Promise<Foreign>): number };
  };
  getUri(config: Foreign): string;
  request(config: Foreign): Promise<Foreign>;
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
export function attachAuth(
  axios: Axios,
  client: Pick<AuthClient, 'state' | 'accessToken'>,
  origins: readonly string[],
): void {
  const isOwn = addressesOf(origins);
  const sent = new WeakMap<object, Sent>();
  const session = () => {
    const state = client.state();
    return state.status === 'signed_in' ? state.session.session_id : undefined;
  };

  async function send(config: AxiosConfig): Promise<AxiosConfig> {
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

  async function repeat(failure: unknown): Promise<Foreign> {
    const { config, response } = failure as { readonly config?: AxiosConfig; readonly response?: Answer };
    const first = config && sent.get(config);
    if (!first || !isRefusal(response) || !isReplayable(config.data)) throw failure;
    const token = await client.accessToken(first.token);
    if (first.session !== session()) throw new AuthError('CLIENT_SUPERSEDED');
    config.headers.Authorization = `Bearer ${token}`;
    if (!first.hasOwnId) config.headers['X-Request-ID'] = randomUUID();
    return axios.request(config);
  }

  axios.interceptors.request.use(send);
  axios.interceptors.response.use(undefined, repeat);
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
