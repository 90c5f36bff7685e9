import { routes } from '@auth-account/contracts';
import type { LoginRequest } from '@auth-account/contracts/http/login';
import type { LogoutRequest } from '@auth-account/contracts/http/logout';
import type { RefreshRequest } from '@auth-account/contracts/http/refresh';
import type { RegisterRequest } from '@auth-account/contracts/http/register';
import type { LogoutAllRequest } from '@auth-account/contracts/http/sessions';
import type { createListSessions } from '../usecases/list-sessions.ts';
import type { createLogIn } from '../usecases/log-in.ts';
import type { createLogOut } from '../usecases/log-out.ts';
import type { createLogOutAll } from '../usecases/log-out-all.ts';
import type { createRefresh } from '../usecases/refresh.ts';
import type { createRegister } from '../usecases/register.ts';
import type { createRevokeSession } from '../usecases/revoke-session.ts';
import { handler } from './handler.ts';
import type { Handlers } from './mount-routes.ts';
import { callerOf, contextOf } from './request-context.ts';

export interface AuthUseCases {
  readonly register: ReturnType<typeof createRegister>;
  readonly logIn: ReturnType<typeof createLogIn>;
  readonly refresh: ReturnType<typeof createRefresh>;
  readonly logOut: ReturnType<typeof createLogOut>;
  readonly logOutAll: ReturnType<typeof createLogOutAll>;
  readonly listSessions: ReturnType<typeof createListSessions>;
  readonly revokeSession: ReturnType<typeof createRevokeSession>;
}

type AuthHandlers = Pick<
  Handlers,
  'register' | 'login' | 'refresh' | 'logout' | 'logoutAll' | 'listSessions' | 'revokeSession'
>;

/** The handlers of `/api/v1/auth`: body and context in, `data` out. Bodies have passed their schemas. */
export function authHandlers(useCases: AuthUseCases): AuthHandlers {
  const { register, logIn, refresh, logOut, logOutAll, listSessions, revokeSession } = useCases;
  return {
    register: handler(routes.register.success.status, async (req, res) => {
      const { data, isReplayed } = await register(req.body as RegisterRequest, contextOf(res));
      if (isReplayed) res.setHeader('Idempotency-Replayed', 'true');
      return data;
    }),
    login: handler(routes.login.success.status, (req, res) => logIn(req.body as LoginRequest, contextOf(res))),
    refresh: handler(routes.refresh.success.status, (req, res) => refresh(req.body as RefreshRequest, contextOf(res))),
    logout: handler(routes.logout.success.status, (req, res) =>
      logOut(req.body as LogoutRequest, callerOf(res), contextOf(res)),
    ),
    logoutAll: handler(routes.logoutAll.success.status, (req, res) =>
      logOutAll(req.body as LogoutAllRequest, callerOf(res), contextOf(res)),
    ),
    listSessions: handler(routes.listSessions.success.status, async (_req, res) => {
      const data = await listSessions(callerOf(res));
      res.setHeader('Cache-Control', routes.listSessions.success.cacheControl);
      return data;
    }),
    revokeSession: handler(routes.revokeSession.success.status, (req, res) =>
      revokeSession(String(req.params.session_id).toLowerCase(), callerOf(res), contextOf(res)),
    ),
  };
}
