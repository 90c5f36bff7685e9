import { ChallengeResponse, challengeExample, ResendCodeRequest, resendCodeExamples } from '../challenges.ts';
import {
  ConfirmPasswordResetRequest,
  confirmPasswordResetExamples,
  PasswordResetRequest,
  PasswordResetResponse,
  passwordResetExample,
  passwordResetExamples,
} from '../password-reset.ts';
import type { Route } from '../route.ts';
import { codeSent, common, commonHeaders, knownHeaders } from './shared.ts';

/** Operations for a forgotten password. */
export const passwordResetRoutes = {
  requestPasswordReset: {
    operationId: 'requestPasswordReset',
    tag: 'Accounts',
    promises: 'account.md#password',
    client: 'account.passwordReset.request',
    summary: 'Ask for a code to reset the password',
    description:
      'Sends a code of 8 digits to the email address, which is good for 10 minutes. The answer is the same for an ' +
      'address without an account; nobody is sent a mail then. Only the app that has asked knows `challenge_id`.\n\n' +
      'Send the `X-Device-Secret` that the app sends at login: a device that has logged in to the account has a ' +
      'limit of its own (429), which unknown devices can’t use up.',
    method: 'post',
    path: '/api/v1/auth/password-reset',
    auth: 'none',
    headers: knownHeaders,
    body: PasswordResetRequest,
    requests: passwordResetExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-RATE-LIMITED'],
  },
  resendPasswordReset: {
    operationId: 'resendPasswordReset',
    tag: 'Accounts',
    promises: 'account.md#password',
    client: 'account.passwordReset.resend',
    summary: 'Send the code to reset the password again',
    description:
      'Sends the same code once more: three times at most, 60 s apart (429 before `resend_at`). It does not live longer ' +
      'for it.',
    method: 'post',
    path: '/api/v1/auth/password-reset/resend',
    auth: 'none',
    headers: commonHeaders,
    body: ResendCodeRequest,
    requests: resendCodeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-CODE-INVALID', 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'],
  },
  confirmPasswordReset: {
    operationId: 'confirmPasswordReset',
    tag: 'Accounts',
    promises: 'account.md#password',
    client: 'account.passwordReset.confirm',
    summary: 'Reset the password with the code',
    description:
      'Sets the password. All sessions of the account end, and their streams close with 4001 `SESSION_REVOKED`; all ' +
      'open codes of the account end, and the open invites that it has made are revoked. The answer has no tokens: ' +
      'the app logs in.\n\n' +
      'Five wrong codes end the challenge. If the email address was never verified, it is now.',
    method: 'post',
    path: '/api/v1/auth/password-reset/confirm',
    auth: 'none',
    headers: knownHeaders,
    body: ConfirmPasswordResetRequest,
    requests: confirmPasswordResetExamples,
    success: {
      status: 200,
      description: 'The new password holds.',
      body: PasswordResetResponse,
      example: passwordResetExample,
    },
    errors: [...common, 'ERR-CODE-INVALID', 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED', 'ERR-OVERLOADED'],
  },
} as const satisfies Record<string, Route>;
