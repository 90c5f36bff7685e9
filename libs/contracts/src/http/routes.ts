import type { TSchema } from 'typebox';
import { LoginRequest, TokenResponse } from './login.ts';
import { LogoutRequest, LogoutResponse } from './logout.ts';
import { RefreshRequest } from './refresh.ts';
import { RegisterRequest, RegisterResponse } from './register.ts';

/** One operation of the HTTP API: what the router mounts, validates and answers. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** Express path; also the route template in logs and metrics. */
  readonly path: string;
  /** `bearer`: an access token is required; `none`: the header is ignored. */
  readonly auth: 'none' | 'bearer';
  readonly body?: TSchema;
  /** The one success status and its body. */
  readonly success: { readonly status: number; readonly body: TSchema };
  /** The answer carries a token: `Cache-Control: no-store`. */
  readonly carriesToken: boolean;
}

/** The route table: the router iterates it, so that no operation can exist beside it. */
export const routes = {
  register: {
    method: 'post',
    path: '/api/v1/auth/register',
    auth: 'none',
    body: RegisterRequest,
    success: { status: 201, body: RegisterResponse },
    carriesToken: false,
  },
  login: {
    method: 'post',
    path: '/api/v1/auth/login',
    auth: 'none',
    body: LoginRequest,
    success: { status: 200, body: TokenResponse },
    carriesToken: true,
  },
  refresh: {
    method: 'post',
    path: '/api/v1/auth/refresh',
    auth: 'none',
    body: RefreshRequest,
    success: { status: 200, body: TokenResponse },
    carriesToken: true,
  },
  logout: {
    method: 'post',
    path: '/api/v1/auth/logout',
    auth: 'bearer',
    body: LogoutRequest,
    success: { status: 200, body: LogoutResponse },
    carriesToken: false,
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
