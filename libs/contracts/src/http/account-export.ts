import * as Type from '../type.ts';
import { Account, account, ReauthenticatedObject, timestamp } from './account.ts';
import { AccountType, CodePurpose, StoredNameOrNull, Success, Timestamp, Uuid } from './fields.ts';
import { GroupRole } from './groups.ts';
import { Identity } from './identity.ts';
import { Platform } from './login.ts';
import { Passkey } from './passkey-credentials.ts';

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
