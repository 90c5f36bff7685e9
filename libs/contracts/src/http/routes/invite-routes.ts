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
    summary: 'Invite into the group',
    description:
      'Makes an invite into the caller’s group; only its owner can. Whoever has the token can join: by registering with ' +
      '`JOIN_EXISTING`, or by accepting it. A group has at most 100 invites that are valid, ' +
      'and a user makes only so many within an hour (429).',
    method: 'post',
    path: '/api/v1/invites',
    auth: 'bearer',
    headers: [...commonHeaders, 'Idempotency-Key'],
    body: CreateInviteRequest,
    requests: createInviteExamples,
    success: { status: 201, description: 'The invite is good.', body: InviteResponse, example: inviteCreatedExample },
    carriesToken: true,
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
    summary: 'List the group’s invites',
    description:
      'All that are valid, and the 100 newest of those that are over, the newest first; only the owner of the group sees ' +
      'them. What is over stays for at least 30 days.',
    method: 'get',
    path: '/api/v1/invites',
    auth: 'bearer',
    headers: commonHeaders,
    success: { status: 200, description: 'The invites.', body: InviteListResponse, example: inviteListExample },
    carriesToken: true,
    errors: [...withoutBody, ...access, 'ERR-GROUP-OWNER-REQUIRED'],
  },
  findInvite: {
    operationId: 'findInvite',
    tag: 'Invites',
    summary: 'What an invite leads to',
    description:
      'For an app that was opened by an invite and wants to show what it is for, before there is an account. Who made it ' +
      'and which group it is for stays unsaid. While the group is full it says `used_up`. A token that names no invite answers 404; one whose invite is over answers ' +
      '200 with the reason, for at least 30 days.',
    method: 'get',
    path: '/api/v1/invites/:token',
    auth: 'none',
    params: { token: InviteTokenInPath },
    headers: commonHeaders,
    success: { status: 200, description: 'The invite.', body: InvitePreviewResponse, example: invitePreviewExample },
    carriesToken: true,
    errors: [...withoutBody, 'ERR-INVITE-TOKEN-INVALID', 'ERR-RATE-LIMITED'],
    errorStatuses: { 'ERR-INVITE-TOKEN-INVALID': [404] },
  },
  revokeInvite: {
    operationId: 'revokeInvite',
    tag: 'Invites',
    summary: 'Revoke an invite',
    description:
      'Once this is answered nobody joins by the invite any more; who has joined stays. Only the owner of the group can. ' +
      'An invite that is over already stays as it is, and answers 200 too. What names no invite of the group is 404.',
    method: 'delete',
    path: '/api/v1/invites/:token',
    auth: 'bearer',
    params: { token: InviteTokenInPath },
    headers: commonHeaders,
    success: { status: 200, description: 'The invite is over.', body: InviteResponse, example: inviteRevokedExample },
    carriesToken: true,
    errors: [...withoutBody, ...access, 'ERR-GROUP-OWNER-REQUIRED', 'ERR-INVITE-TOKEN-INVALID'],
    errorStatuses: { 'ERR-INVITE-TOKEN-INVALID': [404] },
  },
} as const satisfies Record<string, Route>;
