import * as Type from '../type.ts';
import { AccountType, NameOrNull, StoredNameOrNull, Success, Timestamp, Uuid } from './fields.ts';

/**
 * `{token}` in paths. No format is required, so any text that is not an invite's token is answered as an unknown
 * invite.
 */
export const InviteTokenInPath = Type.String({ minLength: 1, examples: ['9b2f1c9e-5e0d-4c57-8a54-0a6a3c8f7f11'] });

/**
 * `{user_id}` in paths. No format is required, so any text that is not a member's id is answered as an unknown member.
 */
export const MemberId = Type.String({ minLength: 1, examples: ['019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10'] });

export const GroupRole = Type.Enum(['owner', 'member'], {
  description: '`owner` is the member who created the space or inherited it; everybody else is a `member`.',
});
export type GroupRole = Type.Static<typeof GroupRole>;

/** Effect of a space's type on its stock (docs/specification/groups-and-invites.md, "Groups"). */
export const StockDeficit = Type.Enum(['masked', 'refused'], {
  description:
    'Effect of taking more than is in stock. `masked` (HOME): the balance goes below zero and the screens hide it, ' +
    '`INV_STOCK_MASKED_MINUS`. `refused` (OFFICE): `INV_STOCK_INSUFFICIENT_OFFICE`.',
});
export type StockDeficit = Type.Static<typeof StockDeficit>;

/** A member, as shown to the other members. */
export const GroupMember = Type.Object({
  user_id: Uuid,
  email: Type.String(),
  display_name: StoredNameOrNull,
  role: GroupRole,
  joined_at: Timestamp,
});

/** Answer 200 of `GET /api/v1/groups/current`: the members, in the order in which they joined. */
export const CurrentGroupResponse = Success(
  Type.Object({
    home_group_id: Uuid,
    name: StoredNameOrNull,
    account_type: AccountType,
    stock_deficit: StockDeficit,
    role: GroupRole,
    created_at: Timestamp,
    members: Type.Array(GroupMember, { minItems: 1 }),
    timestamp: Timestamp,
  }),
);
export type CurrentGroupResponse = Type.Static<typeof CurrentGroupResponse>;

/** Body of `PATCH /api/v1/groups/current`. Null removes the name. */
export const RenameGroupRequest = Type.Object({ name: NameOrNull });
export type RenameGroupRequest = Type.Static<typeof RenameGroupRequest>;

/** Body of `POST /api/v1/groups/current/owner`. */
export const HandOverGroupRequest = Type.Object({ user_id: Uuid });
export type HandOverGroupRequest = Type.Static<typeof HandOverGroupRequest>;

/** Answer 200 of `POST /api/v1/groups/current/owner`. */
export const GroupHandedOverResponse = Success(
  Type.Object({ message: Type.Literal('OWNER_CHANGED'), user_id: Uuid, timestamp: Timestamp }),
);
export type GroupHandedOverResponse = Type.Static<typeof GroupHandedOverResponse>;

/** Body of `POST /api/v1/invites/{token}/accept`. */
export const AcceptInviteRequest = Type.Object({
  leave_current_group: Type.Optional(
    Type.Boolean({ default: false, description: 'The user has agreed to leave the present group.' }),
  ),
});
export type AcceptInviteRequest = Type.Static<typeof AcceptInviteRequest>;

/**
 * Answer 200 of accepting an invite and of leaving: the group that the user is now in. The answer has no tokens, so the
 * app must refresh.
 */
export const MembershipResponse = Success(
  Type.Object({ home_group_id: Uuid, account_type: AccountType, role: GroupRole, timestamp: Timestamp }),
);
export type MembershipResponse = Type.Static<typeof MembershipResponse>;

/** Answer 200 of `DELETE /api/v1/groups/current/members/{user_id}`. */
export const MemberRemovedResponse = Success(
  Type.Object({
    message: Type.Literal('MEMBER_REMOVED'),
    user_id: Uuid,
    invites_revoked: Type.Integer({
      minimum: 0,
      maximum: 1,
      description: '1 if the invite that brought the member was still open: it is revoked.',
    }),
    timestamp: Timestamp,
  }),
);
export type MemberRemovedResponse = Type.Static<typeof MemberRemovedResponse>;

const owner = '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10';
const member = '019b0c52-77d1-7e0b-a6c4-90d8e2f31b27';
const home_group_id = '1c5c1f4e-3b52-4a0a-8f6e-1d2a9b7c3e44';
const timestamp = '2026-11-21T09:31:00.000Z';

const exampleGroup = {
  home_group_id,
  name: 'Garden Street',
  account_type: 'HOME',
  stock_deficit: 'masked',
  created_at: '2026-11-18T07:10:00.000Z',
  members: [
    {
      user_id: owner,
      email: 'cook@example.com',
      display_name: 'Anna',
      role: 'owner',
      joined_at: '2026-11-18T07:10:00.000Z',
    },
    {
      user_id: member,
      email: 'guest@example.com',
      display_name: null,
      role: 'member',
      joined_at: '2026-11-20T18:02:44.310Z',
    },
  ],
} as const;

export const currentGroupExample = {
  status: 'success',
  data: {
    ...exampleGroup,
    role: 'member',
    timestamp,
  },
} as const;

export const renameGroupExamples = {
  name: { summary: 'A name', value: { name: 'Garden Street' } },
  remove: { summary: 'Remove the name', value: { name: null } },
} as const;

export const groupRenamedExample = { status: 'success', data: { ...exampleGroup, role: 'owner', timestamp } } as const;

export const handOverGroupExamples = {
  member: { summary: 'Another member', value: { user_id: member } },
} as const;

export const groupHandedOverExample = {
  status: 'success',
  data: { message: 'OWNER_CHANGED', user_id: member, timestamp },
} as const;

export const acceptInviteExamples = {
  agreed: { summary: 'The user has agreed to leave the present group', value: { leave_current_group: true } },
} as const;

export const joinedExample = {
  status: 'success',
  data: { home_group_id, account_type: 'HOME', role: 'member', timestamp },
} as const;

export const leftExample = {
  status: 'success',
  data: { home_group_id: '7a0e6d54-8f7b-4e3a-b1c2-5d9f0a6b7c81', account_type: 'HOME', role: 'owner', timestamp },
} as const;

export const memberRemovedExample = {
  status: 'success',
  data: { message: 'MEMBER_REMOVED', user_id: member, invites_revoked: 1, timestamp },
} as const;
