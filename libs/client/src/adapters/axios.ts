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
  /** In axios 1 this is axios' own object, which also has the headers as properties. */
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

/** A request that was sent with the client's token. */
interface Sent {
  readonly token: string;
  readonly session: string | undefined;
  readonly hasOwnId: boolean;
}

/**
 * Adds the access token and an `X-Request-ID` to the requests that an axios instance sends to these origins. On Node,
 * these requests follow no redirect. If the service refuses a token, the token is renewed once for all requests under
 * way, and each of them is repeated once. A request that already has an `Authorization` header is not changed. Add
 * these interceptors before your own. Axios runs the interceptors in reverse order, so these see the URL that yours
 * have set.
 *
 * A request fails with `CLIENT_SIGNED_OUT` if there is no session, with `CLIENT_SUPERSEDED` if another session has
 * begun since the call, and with the errors of a refresh.
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
    // A repeated request already has its token and is not repeated again.
    if (!isOwn(axios.getUri(config)) || has(config.headers, 'authorization')) return config;
    const before = session();
    const token = await client.accessToken();
    if (before !== undefined && before !== session()) throw new AuthError('CLIENT_SUPERSEDED');
    const hasOwnId = has(config.headers, 'x-request-id');
    if (!hasOwnId) config.headers['X-Request-ID'] = randomUUID();
    config.headers.Authorization = `Bearer ${token}`;
    // A redirect could send the token to another server.
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
  return (
    isRecord(body) &&
    typeof body.error_code === 'string' &&
    wantsRefresh(new AuthError(body.error_code, { message: '' }))
  );
}

function has(headers: object, name: string): boolean {
  return Object.entries(headers).some(([key, value]) => key.toLowerCase() === name && Boolean(value));
}

/** A stream can be read only once. */
function isReplayable(body: unknown): boolean {
  return typeof body !== 'object' || body === null || !('getReader' in body || 'pipe' in body);
}
