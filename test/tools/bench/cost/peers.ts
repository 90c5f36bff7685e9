import { newEmail, password } from '../../../support/api/accounts.ts';
import type { LaneRequest } from './http-lane.ts';
import type { OperationName } from './operations.ts';

/** Data that a peer's server has seeded for one run of an operation. */
export interface PeerSubject {
  readonly email?: string;
  readonly refreshToken?: string;
  /** Headers of the session's requests. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another server that answers operations, in a separate package below test/tools/bench/peers. */
export interface Peer {
  /** The name of its directory and of its npm package. */
  readonly name: string;
  readonly hash: string | undefined;
  /** The peer's equivalent of each operation. */
  readonly offers: Readonly<Partial<Record<OperationName, string>>>;
  readonly env?: Readonly<Record<string, string>>;
  /** A refresh does not change the token, so a session can be refreshed repeatedly, as by a device. */
  readonly keepsToken?: true;
  readonly request: (operation: OperationName, subject: PeerSubject) => LaneRequest;
}

/** A browser sends the origin of the page. */
const origin = { Origin: 'http://127.0.0.1' };

const betterAuth: Peer = {
  name: 'better-auth',
  hash: 'Argon2id 19456/2/1',
  keepsToken: true,
  offers: {
    register: '`sign-up/email`, without a session',
    login: '`sign-in/email`',
    'session read': '`get-session`, without its refresh: session and user',
    refresh: '`get-session` with `updateAge: 0`: the session’s expiry is written anew, its token stays',
    logout: '`sign-out`',
  },
  request(operation, { email, headers }) {
    const post = (path: string, body: object) => ({
      path: `/api/auth/${path}`,
      body,
      headers: { ...origin, ...headers },
    });
    const get = (query: string) =>
      ({ method: 'GET', path: `/api/auth/get-session${query}`, ...(headers && { headers }) }) as const;
    const requests = {
      register: () => post('sign-up/email', { email: newEmail(), password, name: 'Cook' }),
      login: () => post('sign-in/email', { email, password }),
      'session read': () => get('?disableRefresh=true'),
      refresh: () => get(''),
      logout: () => post('sign-out', {}),
    } as const satisfies Record<OperationName, () => LaneRequest>;
    return requests[operation]();
  },
};

const oidcProvider: Peer = {
  name: 'oidc-provider',
  hash: undefined,
  offers: {
    'session read': 'userinfo',
    refresh: 'refresh grant with rotation, an EdDSA id token, stored access token',
    logout: 'revocation of the refresh token: the grant and all of its tokens',
  },
  request(operation, { refreshToken = '', headers = {} }) {
    if (operation === 'session read') return { method: 'GET', path: '/me', headers };
    const [path, fields] =
      operation === 'refresh'
        ? ['/token', { grant_type: 'refresh_token', refresh_token: refreshToken }]
        : ['/token/revocation', { token: refreshToken }];
    return { path, body: new URLSearchParams({ client_id: 'app', ...fields }) };
  },
};

export const peers: readonly Peer[] = [betterAuth, oidcProvider];
