import {
  type LoginRequest,
  type LogoutRequest,
  type RefreshRequest,
  type RegisterRequest,
  routes,
} from '@auth-account/contracts';
import type { RequestHandler } from 'express';
import type { createLogIn } from '../usecases/log-in.ts';
import type { createLogOut } from '../usecases/log-out.ts';
import type { createRefresh } from '../usecases/refresh.ts';
import type { createRegister } from '../usecases/register.ts';
import type { Handlers } from './mount-routes.ts';
import { callerOf, contextOf } from './request-context.ts';
import { sendJson } from './send-json.ts';

export interface AuthUseCases {
  readonly register: ReturnType<typeof createRegister>;
  readonly logIn: ReturnType<typeof createLogIn>;
  readonly refresh: ReturnType<typeof createRefresh>;
  readonly logOut: ReturnType<typeof createLogOut>;
}

/** The handlers of `/api/v1/auth`: body and context in, `data` out. Bodies have passed their schemas. */
export function authHandlers({ register, logIn, refresh, logOut }: AuthUseCases): Omit<Handlers, 'jwks'> {
  const handler =
    <T>(status: number, run: (...args: Parameters<RequestHandler>) => Promise<T>): RequestHandler =>
    async (req, res, next) => {
      sendJson(res, status, { status: 'success', data: await run(req, res, next) });
    };
  return {
    register: handler(routes.register.success.status, (req, res) =>
      register(req.body as RegisterRequest, contextOf(res)),
    ),
    login: handler(routes.login.success.status, (req, res) => logIn(req.body as LoginRequest, contextOf(res))),
    refresh: handler(routes.refresh.success.status, (req, res) => refresh(req.body as RefreshRequest, contextOf(res))),
    logout: handler(routes.logout.success.status, (req, res) =>
      logOut(req.body as LogoutRequest, callerOf(res), contextOf(res)),
    ),
  };
}
