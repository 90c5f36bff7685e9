import { Type } from 'typebox';
import { AccountType, Email, NewPassword, Success, Timestamp, Uuid } from './fields.ts';

export const SpaceCreationMode = Type.Enum(['CREATE_NEW_HOME', 'CREATE_NEW_OFFICE', 'JOIN_EXISTING']);
export type SpaceCreationMode = Type.Static<typeof SpaceCreationMode>;

/** Any string up to 128 characters, or null: whether it names an invite is no matter of syntax (decisions, "Invite token"). */
const InviteToken = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 128,
  examples: ['9b2f1c9e-5e0d-4c57-8a54-0a6a3c8f7f11'],
});

/** Body of `POST /api/v1/auth/register`. */
export const RegisterRequest = Type.Object({
  email: Email,
  password: NewPassword,
  space_creation_mode: SpaceCreationMode,
  invite_token: Type.Optional(InviteToken),
});
export type RegisterRequest = Type.Static<typeof RegisterRequest>;

/** Answer 201 of `POST /api/v1/auth/register`. */
export const RegisterResponse = Success(
  Type.Object({ user_id: Uuid, home_group_id: Uuid, account_type: AccountType, timestamp: Timestamp }),
);
export type RegisterResponse = Type.Static<typeof RegisterResponse>;
