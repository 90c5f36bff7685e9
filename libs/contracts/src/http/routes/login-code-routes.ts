import { ChallengeResponse, challengeExample, ResendCodeRequest, resendCodeExamples } from '../challenges.ts';
import { TokenResponse, tokenExample } from '../login.ts';
import { LogInByCodeRequest, logInByCodeExamples } from '../login-code.ts';
import { PasswordResetRequest, passwordResetExamples } from '../password-reset.ts';
import { enabledIf } from '../route.ts';
import { codeSent, common, commonHeaders, knownHeaders, loginHeaders } from './shared.ts';

const shared = {
  tag: 'Sessions',
  promises: 'sign-in.md#a-code-by-e-mail',
  method: 'post',
  auth: 'none',
  headers: commonHeaders,
} as const;

/** Operations for a login by a code from the mailbox. */
export const loginCodeRoutes = enabledIf('EMAIL_CODE_LOGIN', {
  requestLoginCode: {
    ...shared,
    operationId: 'requestLoginCode',
    client: 'loginCode.request',
    summary: 'Ask for a code to log in',
    description:
      'Sends a code of 8 digits to the email address, which is good for 10 minutes. The answer is the same for an ' +
      'address without an account; nobody is sent a mail then. Only the app that has asked knows `challenge_id`.',
    path: '/api/v1/auth/login-code',
    headers: knownHeaders,
    body: PasswordResetRequest,
    requests: passwordResetExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-RATE-LIMITED'],
  },
  resendLoginCode: {
    ...shared,
    operationId: 'resendLoginCode',
    client: 'loginCode.resend',
    summary: 'Send the code to log in again',
    description: 'Sends the same code once more: three times at most, 60 s apart (429 before `resend_at`).',
    path: '/api/v1/auth/login-code/resend',
    body: ResendCodeRequest,
    requests: resendCodeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-CODE-INVALID', 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'],
  },
  logInByCode: {
    ...shared,
    operationId: 'logInByCode',
    client: 'core',
    summary: 'Open a session with the code',
    description:
      'Like the login by password. A repeat with the same code and `device_id` gets the same session’s newest pair ' +
      'for 60 s. Five wrong codes end the challenge.\n\n' +
      'If the email address was never verified, it is now. All other sessions end then, and so do the password and ' +
      'the other sign-in methods, because somebody else may have registered the account.',
    path: '/api/v1/auth/login-code/confirm',
    headers: loginHeaders,
    body: LogInByCodeRequest,
    requests: logInByCodeExamples,
    success: { status: 200, description: 'The session is open.', body: TokenResponse, example: tokenExample },
    errors: [
      ...common,
      'ERR-CODE-INVALID',
      'ERR-CODE-EXPIRED',
      'ERR-ACCOUNT-DISABLED',
      'ERR-ACCOUNT-DELETION-SCHEDULED',
      'ERR-SECOND-FACTOR-REQUIRED',
      'ERR-RATE-LIMITED',
    ],
  },
});
