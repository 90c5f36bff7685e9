import * as Type from '../type.ts';
import { AccountType, GivenPassword, PlainText, Seconds, Success, Timestamp, Uuid } from './fields.ts';

export const Platform = Type.Enum(['ios', 'android', 'web', 'other']);
export type Platform = Type.Static<typeof Platform>;

/**
 * Name of a device. Operating systems choose the name, so it never makes a login fail. Characters that would disturb
 * the text around the name are left out ({@link disturbing}), and a name without a visible character counts as absent.
 */
const DeviceName = PlainText({ maxLength: 128, examples: ['Pixel 9'] });

/** An email address that is compared with stored ones. A malformed email address counts as an unknown one. */
export const GivenEmail = Type.String({
  readAs: 'email',
  minLength: 1,
  maxLength: 254,
  examples: ['cook@example.com'],
});

/** Body of `POST /api/v1/auth/login`. A malformed email address counts as an unknown one. */
export const LoginRequest = Type.Object({
  email: GivenEmail,
  password: GivenPassword,
  device_id: Type.Optional(Uuid),
  device_name: Type.Optional(DeviceName),
  platform: Type.Optional(Platform),
  trusted_device_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Spares the second factor on the device that got it (`device_id`), for 30 days.',
    }),
  ),
});
export type LoginRequest = Type.Static<typeof LoginRequest>;

/** Answer 200 of login and refresh: the token pair, and the data with which the app opens its stream. */
export const TokenResponse = Success(
  Type.Object({
    access_token: Type.String({ minLength: 1 }),
    token_type: Type.Literal('Bearer'),
    expires_in: Seconds,
    refresh_token: Type.String({ minLength: 1 }),
    refresh_expires_in: Seconds,
    bound: Type.Optional(Type.Literal(true, { description: 'There if a refresh needs a proof of the device’s key.' })),
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

export const loginExamples = {
  phone: {
    summary: 'On a phone',
    value: {
      email: 'cook@example.com',
      password: 'correct horse battery',
      device_id: '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90',
      device_name: 'Pixel 9',
      platform: 'android',
    },
  },
  minimal: {
    summary: 'Without a device: one is made up',
    value: { email: 'cook@example.com', password: 'correct horse battery' },
  },
} satisfies Record<string, { summary: string; value: LoginRequest }>;

/** Shortened, because examples contain no real tokens. */
export const exampleRefreshToken = 'AQcyMDI2LTExAZqeDGsgfDqdVR8MK3pOEAAAAAGkb2N1bWVudGF0aW9uLW9ubHk';

export const tokenExample = {
  status: 'success',
  data: {
    access_token:
      'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjIwMjYtMTEifQ.eyJpc3MiOiJodHRwczovL2F1dGgubG9jYWwifQ.c2ln',
    token_type: 'Bearer',
    expires_in: 600,
    refresh_token: exampleRefreshToken,
    refresh_expires_in: 2_592_000,
    user_id: '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10',
    home_group_id: '1c5c1f4e-3b52-4a0a-8f6e-1d2a9b7c3e44',
    account_type: 'HOME',
    session_id: '019a9e0d-0c44-7b1e-8a3f-5c2d9e1b7a60',
    device_id: '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90',
    push_stream_path: '/ws/push-stream/019a9e0d-0c44-7b1e-8a3f-5c2d9e1b7a60',
    push_stream_url: 'wss://push.example.com/ws/push-stream/019a9e0d-0c44-7b1e-8a3f-5c2d9e1b7a60',
    timestamp: '2026-11-20T09:31:00.000Z',
  },
} satisfies TokenResponse;
