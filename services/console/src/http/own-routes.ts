import type { ConsoleConfig } from '../config.ts';
import type { Me, SignedOut } from '../contract/answers.ts';
import { actionNames, actionRoles, hasRightsOf } from '../contract/roles.ts';
import type { Sessions } from '../sign-in/sessions.ts';
import type { Cookie } from './cookies.ts';
import type { SessionRoute } from './mount-routes.ts';

interface OwnRouteDeps {
  readonly config: ConsoleConfig;
  readonly sessions: Sessions;
  readonly sessionCookie: Cookie;
}

/** Creates the routes about the session itself. */
export function ownRoutes({ config, sessions, sessionCookie }: OwnRouteDeps): SessionRoute[] {
  return [
    {
      ...{ method: 'GET', path: '/api/me', role: 'viewer', kind: 'plain' },
      async answer({ staff: { name, subject, role } }, { token, until }): Promise<Me> {
        return {
          ...{ name, subject, role, token },
          session_ends_at: new Date(until * 1_000).toISOString(),
          actions: actionNames.filter((action) => hasRightsOf(role, actionRoles[action])),
          four_eyes: config.CONSOLE_FOUR_EYES,
          trace_url: config.CONSOLE_TRACE_URL ?? null,
          deletion_grace_days: config.ACCOUNT_DELETION_GRACE_DAYS,
        };
      },
    },
    {
      ...{ method: 'POST', path: '/sign-out', role: 'viewer', kind: 'plain', isOffline: true },
      async answer(_request, session, res): Promise<SignedOut> {
        const end_session_url = await sessions.end(session);
        sessionCookie.clear(res);
        return { end_session_url };
      },
    },
  ];
}
