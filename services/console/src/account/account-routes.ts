import {
  type AccountViewContext,
  type Found as FoundThing,
  findByText,
  listEnded,
  listMessages,
  loadAccountById,
  readUnrevoked,
  viewAccount,
  viewAddress,
  viewEvent,
  viewGroup,
  viewRequest,
  viewTimeline,
} from '@auth-account/operations/views';
import {
  type AccountView,
  type AddressView,
  type EndedPage,
  type EventView,
  FindRequest,
  type Found,
  type GroupView,
  hasRightsOf,
  type MessagesPage,
  type RequestView,
  type TimelinePage,
} from '../contract/index.ts';
import { asAnswer } from '../http/as-answer.ts';
import { type Route, route, type StaffRequest } from '../http/route.ts';

interface AccountDeps extends Pick<AccountViewContext, 'useRedis' | 'useCounts'> {
  readonly mongo: Pick<AccountViewContext, 'collections' | 'stores' | 'now'>;
}

const idOf = ({ params }: Pick<StaffRequest, 'params'>): string => params.id ?? '';
const viewed = { method: 'GET', role: 'viewer', kind: 'looked_at' } as const;

/** Creates the routes that look at accounts, groups, requests and events. None of them changes anything. */
export function accountRoutes({ mongo, useRedis, useCounts }: AccountDeps): Route[] {
  const context = { ...mongo, useRedis, useCounts };
  return [
    route({
      method: 'POST',
      path: '/api/find',
      role: 'viewer',
      kind: 'looked_at',
      body: FindRequest,
      async answer({ body, audit }): Promise<Found> {
        const found = await findByText(context, body.text);
        audit({ event: 'console.found', kind: found.kind, ...nameOf(found) });
        return { kind: found.kind, path: pathOf(found) };
      },
    }),
    ...accountParts(context),
    route({
      ...viewed,
      path: '/api/groups/:id',
      answer: async (request): Promise<GroupView> => asAnswer(await viewGroup(context, idOf(request))),
    }),
    route({
      ...viewed,
      path: '/api/requests/:id',
      answer: async (request): Promise<RequestView> => asAnswer(await viewRequest(context, idOf(request))),
    }),
    route({
      ...viewed,
      path: '/api/events/:id',
      // It names an account by its id alone.
      kind: 'plain',
      answer: async (request): Promise<EventView> => asAnswer(await viewEvent(context, idOf(request))),
    }),
  ];
}

/** Creates the routes of one account. */
function accountParts(context: AccountViewContext): Route[] {
  return [
    route({
      ...viewed,
      path: '/api/accounts/:id',
      async answer(request): Promise<AccountView> {
        const hasName = hasRightsOf(request.staff.role, 'support');
        return asAnswer(await viewAccount(context, idOf(request), { hasName }));
      },
    }),
    route({
      ...viewed,
      path: '/api/accounts/:id/ended',
      async answer(request): Promise<EndedPage> {
        const user = await loadAccountById(context, idOf(request));
        const unrevoked = await readUnrevoked(context, user._id);
        return asAnswer(await listEnded(context, user, unrevoked, request.query.after));
      },
    }),
    route({
      ...viewed,
      path: '/api/accounts/:id/messages',
      async answer(request): Promise<MessagesPage> {
        const { _id } = await loadAccountById(context, idOf(request));
        return asAnswer(await listMessages(context, _id, request.query.after));
      },
    }),
    route({
      ...viewed,
      path: '/api/accounts/:id/timeline',
      async answer(request): Promise<TimelinePage> {
        return asAnswer(await viewTimeline(context, idOf(request), request.query.after));
      },
    }),
    route({
      ...viewed,
      method: 'POST',
      path: '/api/accounts/:id/address',
      role: 'support',
      answer: async (request): Promise<AddressView> => viewAddress(context, idOf(request)),
    }),
  ];
}

function nameOf(found: FoundThing): Readonly<Record<string, string>> {
  if (found.kind === 'session') return { session_id: found.id, user_id: found.userId };
  return { [found.kind === 'account' ? 'user_id' : `${found.kind}_id`]: found.id };
}

function pathOf(found: FoundThing): string {
  if (found.kind === 'session') return `/accounts/${found.userId}?session=${found.id}`;
  return `/${found.kind}s/${encodeURIComponent(found.id)}`;
}
