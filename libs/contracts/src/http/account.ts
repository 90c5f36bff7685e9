import * as Type from '../type.ts';
import {
  AccountType,
  CodePurpose,
  GivenPassword,
  Locale,
  NameOrNull,
  NewPassword,
  SealedToken,
  StoredNameOrNull,
  Success,
  Timestamp,
  Uuid,
} from './fields.ts';
import { GroupRole } from './groups.ts';
import { Identity } from './identity.ts';
import { Platform } from './login.ts';
import { Passkey } from './passkey-credentials.ts';

const reauthenticationFields = {
  current_password: Type.Optional(GivenPassword),
  step_up_token: Type.Optional(SealedToken),
} as const;

/**
 * Creates the body of an operation that asks who is there: it has one of the two, besides the given fields. While the
 * second factor is on, only `step_up_token` counts.
 */
export function ReauthenticatedObject<P extends Readonly<Record<string, Type.TSchema>>>(fields: P) {
  const anyOf = Object.keys(reauthenticationFields).map((name) => ({ required: [name] }));
  return Type.Object({ ...reauthenticationFields, ...fields }, { anyOf });
}

const LocaleOrNull = Type.Unsafe<Locale | null>({
  enum: [...Locale.enum, null],
  description: 'Language of mails; null: not chosen.',
});

/** The caller's account. */
export const Account = Type.Object({
  user_id: Uuid,
  email: Type.String(),
  email_verified: Type.Boolean({ description: 'The user has shown that mail to this email address arrives.' }),
  pending_email: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The email address that a change under way leads to; null if there is none.',
  }),
  display_name: StoredNameOrNull,
  locale: LocaleOrNull,
  home_group_id: Uuid,
  account_type: AccountType,
  role: GroupRole,
  created_at: Timestamp,
  password_changed_at: Timestamp,
  has_password: Type.Boolean({ description: 'False until a reset sets a password that the user knows.' }),
});
export type Account = Type.Static<typeof Account>;

/** Answer 200 of `GET` and `PATCH /api/v1/account`. */
export const AccountResponse = Success(Type.Object({ ...Account.properties, timestamp: Timestamp }));
export type AccountResponse = Type.Static<typeof AccountResponse>;

/** Body of `PATCH /api/v1/account`. A field that is left out does not change, and null removes the value. */
export const ChangeAccountRequest = Type.Object({
  display_name: Type.Optional(NameOrNull),
  locale: Type.Optional(LocaleOrNull),
});
export type ChangeAccountRequest = Type.Static<typeof ChangeAccountRequest>;

/** Body of `POST /api/v1/account/password`. */
export const ChangePasswordRequest = ReauthenticatedObject({ new_password: NewPassword });
export type ChangePasswordRequest = Type.Static<typeof ChangePasswordRequest>;

/** Answer 200 of `POST /api/v1/account/password`. */
export const PasswordChangedResponse = Success(
  Type.Object({
    message: Type.Literal('PASSWORD_CHANGED'),
    sessions_ended: Type.Integer({ minimum: 0, description: 'Number of sessions that the change has ended.' }),
    timestamp: Timestamp,
  }),
);
export type PasswordChangedResponse = Type.Static<typeof PasswordChangedResponse>;

/** Body of `POST /api/v1/account/export`. */
export const ExportAccountRequest = ReauthenticatedObject({});
export type ExportAccountRequest = Type.Static<typeof ExportAccountRequest>;

const TimestampOrNull = Type.Unsafe<string | null>({ ...Timestamp, type: ['string', 'null'] });
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });

const exported = {
  account: Type.Object({
    ...Account.properties,
    email_verified_at: TimestampOrNull,
    pending_email_until: TimestampOrNull,
    last_login_at: TimestampOrNull,
  }),
  former_emails: Type.Array(Type.Object({ email: Type.String(), undo_until: Timestamp }), {
    description: 'Email addresses that a change can still be undone to.',
  }),
  known_devices: Type.Array(Type.String(), {
    description: 'Devices whose logins cause no notification; `unnamed` is any client that sends no `device_id`.',
  }),
  passkeys: Type.Array(Passkey),
  identities: Type.Array(Identity),
  second_factor: Type.Object({
    confirmed_at: TimestampOrNull,
    recovery_codes_left: Type.Integer({ minimum: 0 }),
    removal_due_at: TimestampOrNull,
    trusted_devices: Type.Array(Type.Object({ device_id: Uuid, trusted_at: Timestamp, trusted_until: Timestamp })),
  }),
  codes: Type.Array(Type.Object({ purpose: CodePurpose, created_at: Timestamp, expires_at: Timestamp }), {
    description: 'Codes by e-mail that were asked for lately. The codes themselves are not stored.',
  }),
  group: Type.Object({
    home_group_id: Uuid,
    name: StoredNameOrNull,
    account_type: AccountType,
    role: GroupRole,
    joined_at: Timestamp,
  }),
  sessions: Type.Array(
    Type.Object({
      session_id: Uuid,
      device_id: Uuid,
      device_name: TextOrNull,
      platform: Type.Unsafe<Platform | null>({ enum: [...Platform.enum, null] }),
      home_group_id: Uuid,
      created_at: Timestamp,
      authenticated_at: Timestamp,
      amr: Type.Array(Type.String(), { description: 'Proofs that the user has given of who they are (RFC 8176).' }),
      last_used_at: Timestamp,
      expires_at: Timestamp,
      bound: Type.Boolean({ description: 'Its refreshes need a proof of the device’s key.' }),
      ended_at: TimestampOrNull,
      end_reason: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'The reason for its end, in the words of `IAD_JWT_REFRESH_STOLEN`.',
      }),
    }),
  ),
  invites: Type.Array(
    Type.Object({
      home_group_id: Uuid,
      created_at: Timestamp,
      expires_at: Timestamp,
      max_uses: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 }),
      uses: Type.Integer({ minimum: 0 }),
      revoked_at: TimestampOrNull,
    }),
    { description: 'The invites that the account has made, without their tokens.' },
  ),
  is_complete: Type.Boolean({ description: 'False if there are older sessions or invites than these.' }),
} as const;

/** Everything that is stored about a person, without secrets, hashes and data of other people. */
export const AccountExport = Type.Object(exported);
export type AccountExport = Type.Static<typeof AccountExport>;

/** Answer 200 of `POST /api/v1/account/export`. */
export const AccountExportResponse = Success(Type.Object({ ...exported, timestamp: Timestamp }));
export type AccountExportResponse = Type.Static<typeof AccountExportResponse>;

const timestamp = '2026-11-22T09:31:00.000Z';

const account = {
  user_id: '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10',
  email: 'cook@example.com',
  email_verified: true,
  pending_email: null,
  display_name: 'Anna',
  locale: 'en',
  home_group_id: '1c5c1f4e-3b52-4a0a-8f6e-1d2a9b7c3e44',
  account_type: 'HOME',
  role: 'owner',
  created_at: '2026-11-18T07:10:00.000Z',
  password_changed_at: '2026-11-18T07:10:00.000Z',
  has_password: true,
} satisfies Account;

export const accountExample = { status: 'success', data: { ...account, timestamp } } satisfies AccountResponse;

export const changeAccountExamples = {
  both: { summary: 'Name and language', value: { display_name: 'Anna', locale: 'ru' } },
  remove: { summary: 'Remove the name', value: { display_name: null } },
} satisfies Record<string, { summary: string; value: ChangeAccountRequest }>;

export const changePasswordExamples = {
  change: {
    summary: 'A new password',
    value: { current_password: 'correct horse battery', new_password: 'three wrong staples' },
  },
} satisfies Record<string, { summary: string; value: ChangePasswordRequest }>;

export const passwordChangedExample = {
  status: 'success',
  data: { message: 'PASSWORD_CHANGED', sessions_ended: 2, timestamp },
} satisfies PasswordChangedResponse;

export const exportAccountExamples = {
  all: { summary: 'With the password', value: { current_password: 'correct horse battery' } },
} satisfies Record<string, { summary: string; value: ExportAccountRequest }>;

export const accountExportExample = {
  status: 'success',
  data: {
    account: {
      ...account,
      email_verified_at: '2026-11-20T10:05:00.000Z',
      pending_email_until: null,
      last_login_at: '2026-11-22T07:00:00.000Z',
    },
    former_emails: [{ email: 'old@example.com', undo_until: '2026-11-24T09:00:00.000Z' }],
    known_devices: ['5c1ae21a-55ea-47d2-b0b3-8ae2bd7f5f6e'],
    passkeys: [
      {
        passkey_id: '019a9e0f-2c11-7d5e-8b4a-6e3d0f1a9b72',
        name: 'Pixel 9',
        backed_up: true,
        created_at: '2026-11-20T08:00:00.000Z',
        last_used_at: null,
      },
    ],
    identities: [
      {
        identity_id: '019a9e0f-2c11-7d5e-8b4a-6e3d0f1a9b73',
        provider: 'google',
        email: 'cook@example.com',
        relay_off: false,
        disabled: false,
        created_at: '2026-11-20T08:00:00.000Z',
      },
    ],
    second_factor: {
      confirmed_at: '2026-11-20T10:05:00.000Z',
      recovery_codes_left: 9,
      removal_due_at: null,
      trusted_devices: [
        {
          device_id: '5c1ae21a-55ea-47d2-b0b3-8ae2bd7f5f6e',
          trusted_at: '2026-11-21T07:10:00.000Z',
          trusted_until: '2026-12-21T07:10:00.000Z',
        },
      ],
    },
    codes: [
      {
        purpose: 'email_verification',
        created_at: '2026-11-22T09:25:00.000Z',
        expires_at: '2026-11-22T09:35:00.000Z',
      },
    ],
    group: {
      home_group_id: account.home_group_id,
      name: 'Garden Street',
      account_type: 'HOME',
      role: 'owner',
      joined_at: account.created_at,
    },
    sessions: [
      {
        session_id: '01a1fb4e-daa7-714a-a09b-e1a8069f4580',
        device_id: '5c1ae21a-55ea-47d2-b0b3-8ae2bd7f5f6e',
        device_name: 'Pixel 9',
        platform: 'android',
        home_group_id: account.home_group_id,
        created_at: '2026-11-18T07:10:00.000Z',
        authenticated_at: '2026-11-18T07:10:00.000Z',
        amr: ['pwd'],
        last_used_at: '2026-11-20T23:21:12.080Z',
        expires_at: '2026-12-20T23:21:12.080Z',
        bound: false,
        ended_at: '2026-11-21T08:00:00.000Z',
        end_reason: 'logged_out',
      },
    ],
    invites: [
      {
        home_group_id: account.home_group_id,
        created_at: '2026-11-20T09:30:00.000Z',
        expires_at: '2026-11-27T09:30:00.000Z',
        max_uses: 3,
        uses: 1,
        revoked_at: null,
      },
    ],
    is_complete: true,
    timestamp,
  },
} satisfies AccountExportResponse;
