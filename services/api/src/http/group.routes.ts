import { routes } from '@auth-account/contracts';
import type { AcceptInviteRequest } from '@auth-account/contracts/http/groups';
import type { createAcceptInvite } from '../usecases/accept-invite.ts';
import type { createFindCurrentGroup } from '../usecases/find-current-group.ts';
import type { LeaveGroup } from '../usecases/leave-group.ts';
import type { createRemoveMember } from '../usecases/remove-member.ts';
import { handler } from './handler.ts';
import type { Handlers } from './mount-routes.ts';
import { callerOf, contextOf } from './request-context.ts';

export interface GroupUseCases {
  readonly findCurrentGroup: ReturnType<typeof createFindCurrentGroup>;
  readonly acceptInvite: ReturnType<typeof createAcceptInvite>;
  readonly leaveGroup: LeaveGroup;
  readonly removeMember: ReturnType<typeof createRemoveMember>;
}

type GroupHandlers = Pick<Handlers, 'findCurrentGroup' | 'acceptInvite' | 'leaveGroup' | 'removeMember'>;

/** The handlers of the caller's membership. */
export function groupHandlers({
  findCurrentGroup,
  acceptInvite,
  leaveGroup,
  removeMember,
}: GroupUseCases): GroupHandlers {
  return {
    findCurrentGroup: handler(routes.findCurrentGroup.success.status, async (_req, res) => {
      const data = await findCurrentGroup(callerOf(res));
      res.setHeader('Cache-Control', routes.findCurrentGroup.success.cacheControl);
      return data;
    }),
    acceptInvite: handler(routes.acceptInvite.success.status, (req, res) =>
      acceptInvite(String(req.params.token), req.body as AcceptInviteRequest, callerOf(res), contextOf(res)),
    ),
    leaveGroup: handler(routes.leaveGroup.success.status, (_req, res) => leaveGroup(callerOf(res), contextOf(res))),
    removeMember: handler(routes.removeMember.success.status, (req, res) =>
      removeMember(String(req.params.user_id).toLowerCase(), callerOf(res), contextOf(res)),
    ),
  };
}
