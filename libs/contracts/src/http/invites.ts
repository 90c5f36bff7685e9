import * as Type from '../type.ts';
import { AccountType, StoredNameOrNull, Success, Timestamp, Uuid } from './fields.ts';

const daySeconds = 86_400;

/** Life of an invite, in seconds, if its request does not set the life. */
export const defaultInviteSeconds = 7 * daySeconds;

/**
 * Limit for the number of uses. A larger number does not fit in MongoDB's 32-bit integers, and no group invites so many
 * people.
 */
const maxUses = 2_147_483_647;

/** Body of `POST /api/v1/invites`. */
export const CreateInviteRequest = Type.Object({
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 30 * daySeconds,
      default: defaultInviteSeconds,
      description: 'Seconds until the invite expires.',
    }),
  ),
  max_uses: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: maxUses,
      default: null,
      description: 'Number of accounts that may join by it; null: any number.',
    }),
  ),
});
export type CreateInviteRequest = Type.Static<typeof CreateInviteRequest>;

/** State of an invite: it is valid, or there is a reason why nobody can join with it. */
const present = {
  account_type: AccountType,
  expires_at: Timestamp,
  valid: Type.Boolean({ description: 'True if one can join with it now. For the owner: if the group is not full.' }),
  reason: Type.Unsafe<'expired' | 'revoked' | 'used_up' | null>({
    enum: ['expired', 'revoked', 'used_up', null],
    description: 'Reason why it is not valid; null if it is.',
  }),
} as const;

const own = {
  invite_token: Uuid,
  ...present,
  max_uses: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 }),
  uses: Type.Integer({ minimum: 0, description: 'Number of accounts that have joined by it.' }),
  created_by: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'uuid',
    description: 'null if the account was deleted.',
  }),
  created_at: Timestamp,
  revoked_at: Type.Unsafe<string | null>({ ...Timestamp, type: ['string', 'null'] }),
} as const;

/** An invite, as shown to the owner of its group. */
export const Invite = Type.Object(own);
export type Invite = Type.Static<typeof Invite>;

/** Answer 201 of `POST /api/v1/invites` and 200 of `DELETE /api/v1/invites/{token}`. */
export const InviteResponse = Success(Type.Object({ ...own, timestamp: Timestamp }));
export type InviteResponse = Type.Static<typeof InviteResponse>;

/** Answer 200 of `GET /api/v1/invites`: the newest first. */
export const InviteListResponse = Success(
  Type.Object({
    invites: Type.Array(Invite),
    has_more: Type.Boolean({ description: 'There are older invites that are over, and not in the list.' }),
    timestamp: Timestamp,
  }),
);
export type InviteListResponse = Type.Static<typeof InviteListResponse>;

/** Answer 200 of `GET /api/v1/invites/{token}`: visible to anyone who has the token. */
export const InvitePreviewResponse = Success(
  Type.Object({ ...present, group_name: StoredNameOrNull, invited_by: StoredNameOrNull, timestamp: Timestamp }),
);
export type InvitePreviewResponse = Type.Static<typeof InvitePreviewResponse>;

const timestamp = '2026-11-20T09:30:00.000Z';

const invite = {
  invite_token: '9b2f1c9e-5e0d-4c57-8a54-0a6a3c8f7f11',
  account_type: 'HOME',
  expires_at: '2026-11-27T09:30:00.000Z',
  valid: true,
  reason: null,
  max_uses: 3,
  uses: 0,
  created_by: '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10',
  created_at: timestamp,
  revoked_at: null,
} satisfies Invite;

export const createInviteExamples = {
  week: { summary: 'For anybody, for a week', value: {} },
  flatmates: { summary: 'For three, for a day', value: { expires_in: daySeconds, max_uses: 3 } },
} satisfies Record<string, { summary: string; value: CreateInviteRequest }>;

export const inviteCreatedExample = { status: 'success', data: { ...invite, timestamp } } satisfies InviteResponse;

export const inviteListExample = {
  status: 'success',
  data: { invites: [invite], has_more: false, timestamp },
} satisfies InviteListResponse;

export const inviteRevokedExample = {
  status: 'success',
  data: { ...invite, uses: 1, valid: false, reason: 'revoked', revoked_at: timestamp, timestamp },
} satisfies InviteResponse;

export const invitePreviewExample = {
  status: 'success',
  data: {
    account_type: 'HOME',
    expires_at: '2026-11-27T09:30:00.000Z',
    valid: true,
    reason: null,
    group_name: 'Garden Street',
    invited_by: 'Anna',
    timestamp,
  },
} satisfies InvitePreviewResponse;
