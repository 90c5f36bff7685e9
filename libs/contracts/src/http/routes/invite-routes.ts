import { InviteTokenInPath } from '../groups.ts';
import {
  CreateInviteRequest,
  createInviteExamples,
  InviteListResponse,
  InvitePreviewResponse,
  InviteResponse,
  inviteCreatedExample,
  inviteListExample,
  invitePreviewExample,
  inviteRevokedExample,
} from '../invites.ts';
import type { Route } from '../route.ts';
import { access, common, commonHeaders, withoutBody } from './shared.ts';

/** Operations on invites. */
export const inviteRoutes = {
  createInvite: {
    operationId: 'createInvite',
    tag: 'Invites',
    promises: 'groups-and-invites.md#invites',
    client: 'invites.create',
    summary: 'Invite into the group',
    description:
      'Creates an invite into the caller’s group; only its owner can. Anyone who has the token can join: by registering ' +
      'with `JOIN_EXISTING`, or by accepting it. A group has at most 100 valid invites, and the number of invites that ' +
      'a user creates within an hour is limited (429).',
    method: 'post',
    path: '/api/v1/invites',
    auth: 'bearer',
    headers: [...commonHeaders, 'Idempotency-Key'],
    body: CreateInviteRequest,
    requests: createInviteExamples,
    success: { status: 201, description: 'The invite is good.', body: InviteResponse, example: inviteCreatedExample },
    errors: [
      ...common,
      ...access,
      'ERR-GROUP-OWNER-REQUIRED',
      'ERR-INVITE-LIMIT-REACHED',
      'ERR-IDEMPOTENCY-KEY-REUSED',
      'ERR-RATE-LIMITED',
    ],
  },
  listInvites: {
    operationId: 'listInvites',
    tag: 'Invites',
    promises: 'groups-and-invites.md#invites',
    client: 'invites.list',
    summary: 'List the group’s invites',
    description:
      'All valid invites, and the 100 newest of those that are over, newest first; only the owner of the group sees ' +
      'them. An invite that is over stays for at least 30 days.',
    method: 'get',
    path: '/api/v1/invites',
    auth: 'bearer',
    headers: commonHeaders,
    success: { status: 200, description: 'The invites.', body: InviteListResponse, example: inviteListExample },
    errors: [...withoutBody, ...access, 'ERR-GROUP-OWNER-REQUIRED'],
  },
  findInvite: {
    operationId: 'findInvite',
    tag: 'Invites',
    promises: 'groups-and-invites.md#invites',
    client: 'invites.find',
    summary: 'Show what an invite leads to',
    description:
      'For an app that was opened by an invite and shows it before there is an account. The answer has the names of ' +
      'group and inviter, null where unset, and no id and no email address. While the group is full the reason is ' +
      '`used_up`. A token that names no invite gets 404. An invite that is over gets 200 with the reason, for at ' +
      'least 30 days.',
    method: 'get',
    path: '/api/v1/invites/:token',
    auth: 'none',
    params: { token: InviteTokenInPath },
    headers: commonHeaders,
    success: { status: 200, description: 'The invite.', body: InvitePreviewResponse, example: invitePreviewExample },
    errors: [...withoutBody, 'ERR-INVITE-TOKEN-INVALID', 'ERR-RATE-LIMITED'],
    errorStatuses: { 'ERR-INVITE-TOKEN-INVALID': [404] },
  },
  revokeInvite: {
    operationId: 'revokeInvite',
    tag: 'Invites',
    promises: 'groups-and-invites.md#invites',
    client: 'invites.revoke',
    summary: 'Revoke an invite',
    description:
      'After this answer nobody can join with the invite; members who have joined stay. Only the owner of the group can ' +
      'revoke it. An invite that is already over stays as it is and gets 200 too. A token of no invite of the group gets 404.',
    method: 'delete',
    path: '/api/v1/invites/:token',
    auth: 'bearer',
    params: { token: InviteTokenInPath },
    headers: commonHeaders,
    success: { status: 200, description: 'The invite is over.', body: InviteResponse, example: inviteRevokedExample },
    errors: [...withoutBody, ...access, 'ERR-GROUP-OWNER-REQUIRED', 'ERR-INVITE-TOKEN-INVALID'],
    errorStatuses: { 'ERR-INVITE-TOKEN-INVALID': [404] },
  },
} as const satisfies Record<string, Route>;
