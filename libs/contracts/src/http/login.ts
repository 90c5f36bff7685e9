import { Type } from 'typebox';
import { AccountType, GivenPassword, Seconds, Success, Timestamp, Uuid } from './fields.ts';

export const Platform = Type.Enum(['ios', 'android', 'web', 'other']);
export type Platform = Type.Static<typeof Platform>;

/** As a person reads it: no control characters, well-formed Unicode. */
const DeviceName = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\p{Cc}\\p{Cs}]*$',
  examples: ['Pixel 9'],
});

/** Body of `POST /api/v1/auth/login`. An address of bad syntax is simply an unknown one. */
export const LoginRequest = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254, examples: ['cook@example.com'] }),
  password: GivenPassword,
  device_id: Type.Optional(Uuid),
  device_name: Type.Optional(DeviceName),
  platform: Type.Optional(Platform),
});
export type LoginRequest = Type.Static<typeof LoginRequest>;

/** Answer 200 of login and refresh: the token pair and what the app needs to open its stream. */
export const TokenResponse = Success(
  Type.Object({
    access_token: Type.String({ minLength: 1 }),
    token_type: Type.Literal('Bearer'),
    expires_in: Seconds,
    refresh_token: Type.String({ minLength: 1 }),
    refresh_expires_in: Seconds,
    user_id: Uuid,
    home_group_id: Uuid,
    account_type: AccountType,
    session_id: Uuid,
    device_id: Uuid,
    push_stream_path: Type.String(),
    push_stream_url: Type.String(),
    timestamp: Timestamp,
  }),
);
export type TokenResponse = Type.Static<typeof TokenResponse>;
