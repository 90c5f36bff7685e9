import * as Type from '../type.ts';
import {
  AccountType,
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

/** Time of the examples' answers. */
export const timestamp = '2026-11-22T09:31:00.000Z';

/** The account of the examples. */
export const account = {
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
