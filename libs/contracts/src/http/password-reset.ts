import * as Type from '../type.ts';
import { ConfirmCodeRequest, exampleChallengeId, exampleCode } from './challenges.ts';
import { InvitesRevoked, NewPassword, Success, Timestamp } from './fields.ts';
import { GivenEmail } from './login.ts';

/** Body of `POST /api/v1/auth/password-reset`. A malformed email address counts as an unknown one. */
export const PasswordResetRequest = Type.Object({ email: GivenEmail });
export type PasswordResetRequest = Type.Static<typeof PasswordResetRequest>;

/** Body of `POST /api/v1/auth/password-reset/confirm`. */
export const ConfirmPasswordResetRequest = Type.Object({
  ...ConfirmCodeRequest.properties,
  new_password: NewPassword,
});
export type ConfirmPasswordResetRequest = Type.Static<typeof ConfirmPasswordResetRequest>;

/** Answer 200 of `POST /api/v1/auth/password-reset/confirm`. It has no tokens, so the app must log in. */
export const PasswordResetResponse = Success(
  Type.Object({ message: Type.Literal('PASSWORD_RESET'), invites_revoked: InvitesRevoked, timestamp: Timestamp }),
);
export type PasswordResetResponse = Type.Static<typeof PasswordResetResponse>;

export const passwordResetExamples = {
  minimal: { summary: 'The email address', value: { email: 'cook@example.com' } },
} satisfies Record<string, { summary: string; value: PasswordResetRequest }>;

export const confirmPasswordResetExamples = {
  code: {
    summary: 'The code of the mail, and a new password',
    value: { challenge_id: exampleChallengeId, code: exampleCode, new_password: 'three wrong staples' },
  },
} satisfies Record<string, { summary: string; value: ConfirmPasswordResetRequest }>;

export const passwordResetExample = {
  status: 'success',
  data: { message: 'PASSWORD_RESET', invites_revoked: 1, timestamp: '2026-11-20T10:02:00.000Z' },
} satisfies PasswordResetResponse;
