import { routes } from '@auth-account/contracts';
import type { CreateInviteRequest } from '@auth-account/contracts/http/invites';
import type { createCreateInvite } from '../usecases/create-invite.ts';
import type { createFindInvite } from '../usecases/find-invite.ts';
import type { createListInvites } from '../usecases/list-invites.ts';
import type { createRevokeInvite } from '../usecases/revoke-invite.ts';
import { handler } from './handler.ts';
import type { Handlers } from './mount-routes.ts';
import { callerOf, contextOf } from './request-context.ts';

export interface InviteUseCases {
  readonly createInvite: ReturnType<typeof createCreateInvite>;
  readonly listInvites: ReturnType<typeof createListInvites>;
  readonly findInvite: ReturnType<typeof createFindInvite>;
  readonly revokeInvite: ReturnType<typeof createRevokeInvite>;
}

/** The handlers of `/api/v1/invites`, but for accepting, which is a change of group. */
export function inviteHandlers(useCases: InviteUseCases): Pick<Handlers, keyof InviteUseCases> {
  const { createInvite, listInvites, findInvite, revokeInvite } = useCases;
  return {
    createInvite: handler(routes.createInvite.success.status, async (req, res) => {
      const { data, isReplayed } = await createInvite(req.body as CreateInviteRequest, callerOf(res), contextOf(res));
      if (isReplayed) res.setHeader('Idempotency-Replayed', 'true');
      return data;
    }),
    listInvites: handler(routes.listInvites.success.status, (_req, res) => listInvites(callerOf(res))),
    findInvite: handler(routes.findInvite.success.status, (req, res) =>
      findInvite(String(req.params.token), contextOf(res)),
    ),
    revokeInvite: handler(routes.revokeInvite.success.status, (req, res) =>
      revokeInvite(String(req.params.token), callerOf(res), contextOf(res)),
    ),
  };
}
