import {
  AcceptInviteRequest,
  acceptInviteExamples,
  CurrentGroupResponse,
  currentGroupExample,
  GroupHandedOverResponse,
  groupHandedOverExample,
  groupRenamedExample,
  HandOverGroupRequest,
  handOverGroupExamples,
  InviteTokenInPath,
  joinedExample,
  leftExample,
  MemberId,
  MemberRemovedResponse,
  MembershipResponse,
  memberRemovedExample,
  RenameGroupRequest,
  renameGroupExamples,
} from '../groups.ts';
import type { Route } from '../route.ts';
import { access, common, commonHeaders, withoutBody } from './shared.ts';

const moved =
  'No session ends. The user’s access tokens are refused from now on and the push streams close with 4004 ' +
  '`GROUP_CHANGED`: each app refreshes, as after any `IAD_JWT_ACCESS_INVALID`, and is in the new group. The same heals a ' +
  'lost answer.';

/** Operations on the caller's membership. */
export const groupRoutes = {
  findCurrentGroup: {
    operationId: 'findCurrentGroup',
    tag: 'Groups',
    promises: 'groups-and-invites.md#groups',
    client: 'group.find',
    summary: 'Show the caller’s group',
    description:
      'The group, the effect of its type on stock, and its members, longest-standing first. Names are null if unset.',
    method: 'get',
    path: '/api/v1/groups/current',
    auth: 'bearer',
    headers: commonHeaders,
    success: {
      status: 200,
      description: 'The group.',
      body: CurrentGroupResponse,
      example: currentGroupExample,
    },
    errors: [...withoutBody, ...access],
  },
  renameGroup: {
    operationId: 'renameGroup',
    tag: 'Groups',
    promises: 'groups-and-invites.md#groups',
    client: 'group.rename',
    summary: 'Name the group',
    description:
      'For the owner of the group. The members see the name, and so does whoever previews an invite into the group.',
    method: 'patch',
    path: '/api/v1/groups/current',
    auth: 'bearer',
    headers: commonHeaders,
    body: RenameGroupRequest,
    requests: renameGroupExamples,
    success: {
      status: 200,
      description: 'The group now.',
      body: CurrentGroupResponse,
      example: groupRenamedExample,
    },
    errors: [...common, ...access, 'ERR-GROUP-OWNER-REQUIRED', 'ERR-RATE-LIMITED'],
  },
  handOverGroup: {
    operationId: 'handOverGroup',
    tag: 'Groups',
    promises: 'groups-and-invites.md#groups',
    client: 'group.handOver',
    summary: 'Make another member the owner',
    description:
      'For the owner of the group, who is a member afterwards. No session ends, and no token changes: they say nothing ' +
      'of the role. The caller’s own id changes nothing.',
    method: 'post',
    path: '/api/v1/groups/current/owner',
    auth: 'bearer',
    headers: commonHeaders,
    body: HandOverGroupRequest,
    requests: handOverGroupExamples,
    success: {
      status: 200,
      description: 'The group has its new owner.',
      body: GroupHandedOverResponse,
      example: groupHandedOverExample,
    },
    errors: [...common, ...access, 'ERR-GROUP-OWNER-REQUIRED', 'ERR-GROUP-MEMBER-NOT-FOUND', 'ERR-RATE-LIMITED'],
  },
  acceptInvite: {
    operationId: 'acceptInvite',
    tag: 'Groups',
    promises: 'groups-and-invites.md#moving',
    client: 'invites.accept',
    summary: 'Move into the group of an invite',
    description:
      `Moves the caller out of the present group into the one that the invite leads to, as a member. ${moved}\n\n` +
      'The invite is checked first: 404 if the token never named one, 400 if it leads into the caller’s own group, 410 if ' +
      'it has expired, was revoked or is used up, or if the group is full. Then `leave_current_group` is checked: without ' +
      'it the answer is 400, and the app asks the user. The number of moves of an account within an hour is limited ' +
      '(429). An owner who moves hands the group to its longest-standing member; the last member closes it.',
    method: 'post',
    path: '/api/v1/invites/:token/accept',
    auth: 'bearer',
    params: { token: InviteTokenInPath },
    headers: commonHeaders,
    body: AcceptInviteRequest,
    requests: acceptInviteExamples,
    success: {
      status: 200,
      description: 'The user is in the group.',
      body: MembershipResponse,
      example: joinedExample,
    },
    errors: [
      ...common,
      ...access,
      'IAD_GROUP_ALREADY_MEMBER',
      'IAD_GROUP_INVITE_EXPIRED',
      'ERR-INVITE-TOKEN-INVALID',
      'ERR-RATE-LIMITED',
    ],
  },
  leaveGroup: {
    operationId: 'leaveGroup',
    tag: 'Groups',
    promises: 'groups-and-invites.md#moving',
    client: 'group.leave',
    summary: 'Leave the group for a new household',
    description:
      `Moves the caller into a new HOME space of their own. ${moved}\n\n` +
      'An owner who leaves hands the group to its longest-standing member. A group left by its last member is closed and ' +
      'its invites end, also a HOME space of the caller’s own. The number of moves of an account within an hour is ' +
      'limited (429).',
    method: 'post',
    path: '/api/v1/groups/leave',
    auth: 'bearer',
    headers: commonHeaders,
    success: { status: 200, description: 'The group of the user now.', body: MembershipResponse, example: leftExample },
    errors: [...withoutBody, ...access, 'ERR-RATE-LIMITED'],
  },
  removeMember: {
    operationId: 'removeMember',
    tag: 'Groups',
    promises: 'groups-and-invites.md#groups',
    client: 'group.removeMember',
    summary: 'Remove a member',
    description:
      'For the owner of the group. The member moves into a new HOME space, as if they had left, and the invite that ' +
      'brought them is revoked. The owner’s own id means leaving, and counts as such (429). ' +
      moved,
    method: 'delete',
    path: '/api/v1/groups/current/members/:user_id',
    auth: 'bearer',
    params: { user_id: MemberId },
    headers: commonHeaders,
    success: {
      status: 200,
      description: 'The member is gone.',
      body: MemberRemovedResponse,
      example: memberRemovedExample,
    },
    errors: [...withoutBody, ...access, 'ERR-GROUP-OWNER-REQUIRED', 'ERR-GROUP-MEMBER-NOT-FOUND', 'ERR-RATE-LIMITED'],
  },
} as const satisfies Record<string, Route>;
