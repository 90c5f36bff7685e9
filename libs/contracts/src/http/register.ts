import * as Type from '../type.ts';
import { AccountType, Email, NewPassword, Success, Timestamp, Uuid } from './fields.ts';

export const SpaceCreationMode = Type.Enum(['CREATE_NEW_HOME', 'CREATE_NEW_OFFICE', 'JOIN_EXISTING']);
export type SpaceCreationMode = Type.Static<typeof SpaceCreationMode>;

/**
 * Any string of up to 128 characters, or null. A text that does not name an invite is not a syntax error
 * (docs/specification/groups-and-invites.md, "Which answer an invite gets").
 */
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
  device_id: Type.Optional(Uuid),
});
export type RegisterRequest = Type.Static<typeof RegisterRequest>;

/** Answer 201 of `POST /api/v1/auth/register`. */
export const RegisterResponse = Success(
  Type.Object({ user_id: Uuid, home_group_id: Uuid, account_type: AccountType, timestamp: Timestamp }),
);
export type RegisterResponse = Type.Static<typeof RegisterResponse>;

export const registerExamples = {
  household: {
    summary: 'A new household',
    value: {
      email: 'cook@example.com',
      password: 'correct horse battery',
      space_creation_mode: 'CREATE_NEW_HOME',
      invite_token: null,
      device_id: '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90',
    },
  },
  office: {
    summary: 'A new office',
    value: {
      email: 'manager@example.com',
      password: 'correct horse battery',
      space_creation_mode: 'CREATE_NEW_OFFICE',
    },
  },
  invited: {
    summary: 'Into the group of an invite',
    value: {
      email: 'flatmate@example.com',
      password: 'correct horse battery',
      space_creation_mode: 'JOIN_EXISTING',
      invite_token: '9b2f1c9e-5e0d-4c57-8a54-0a6a3c8f7f11',
    },
  },
} satisfies Record<string, { summary: string; value: RegisterRequest }>;

export const registeredExample = {
  status: 'success',
  data: {
    user_id: '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10',
    home_group_id: '1c5c1f4e-3b52-4a0a-8f6e-1d2a9b7c3e44',
    account_type: 'HOME',
    timestamp: '2026-11-20T09:30:00.000Z',
  },
} satisfies RegisterResponse;
