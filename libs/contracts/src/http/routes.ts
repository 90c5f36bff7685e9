import type { Route } from './route.ts';
import { accountRoutes } from './routes/account-routes.ts';
import { deletionRoutes } from './routes/deletion-routes.ts';
import { emailRoutes } from './routes/email-routes.ts';
import { federatedRoutes } from './routes/federated-routes.ts';
import { groupRoutes } from './routes/group-routes.ts';
import { inviteRoutes } from './routes/invite-routes.ts';
import { keyRoutes } from './routes/key-routes.ts';
import { loginCodeRoutes } from './routes/login-code-routes.ts';
import { passkeyRoutes } from './routes/passkey-routes.ts';
import { passwordResetRoutes } from './routes/password-reset-routes.ts';
import { revocationRoutes } from './routes/revocation-routes.ts';
import { secondFactorRemovalRoutes } from './routes/second-factor-removal-routes.ts';
import { secondFactorRoutes } from './routes/second-factor-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { stepUpRoutes } from './routes/step-up-routes.ts';
import { wellKnownRoutes } from './routes/well-known-routes.ts';

/** The route table, by `operationId`. The router mounts only the operations in this table. */
export const routes = {
  ...accountRoutes,
  ...deletionRoutes,
  ...passwordResetRoutes,
  ...emailRoutes,
  ...secondFactorRoutes,
  ...secondFactorRemovalRoutes,
  ...sessionRoutes,
  ...loginCodeRoutes,
  ...stepUpRoutes,
  ...passkeyRoutes,
  ...federatedRoutes,
  ...groupRoutes,
  ...inviteRoutes,
  ...keyRoutes,
  ...revocationRoutes,
  ...wellKnownRoutes,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
