import {
  ChallengeResponse,
  ConfirmCodeRequest,
  challengeExample,
  confirmCodeExamples,
  ResendCodeRequest,
  resendCodeExamples,
} from '../challenges.ts';
import {
  EmailChangedResponse,
  EmailChangeRequest,
  EmailChangeUndoneResponse,
  emailChangedExample,
  emailChangeExamples,
  emailChangeUndoneExample,
  UndoEmailChangeRequest,
  undoEmailChangeExamples,
} from '../email-change.ts';
import { EmailVerifiedResponse, emailVerifiedExample } from '../email-verification.ts';
import type { Route } from '../route.ts';
import { access, codeSent, common, commonHeaders, fresh, knownHeaders, refusedStepUp, withoutBody } from './shared.ts';

const codeErrors = ['ERR-CODE-INVALID', 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'] as const;

const resent =
  'Sends the same code once more: three times at most, 60 s apart (429 before `resend_at`). It does not live longer for it.';

/** Operations on an account's email address. */
export const emailRoutes = {
  requestEmailVerification: {
    operationId: 'requestEmailVerification',
    tag: 'Accounts',
    promises: 'account.md#verification',
    client: 'account.emailVerification.request',
    summary: 'Ask for a code to verify the email address',
    description:
      'Sends a code of 8 digits to the email address of the account, which is good for 10 minutes; also to one that ' +
      'is verified already.',
    method: 'post',
    path: '/api/v1/account/email-verification',
    auth: 'bearer',
    headers: knownHeaders,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...withoutBody, ...access, 'ERR-RATE-LIMITED'],
  },
  resendEmailVerification: {
    operationId: 'resendEmailVerification',
    tag: 'Accounts',
    promises: 'account.md#verification',
    client: 'account.emailVerification.resend',
    summary: 'Send the code to verify the email address again',
    description: `${resent} It takes no access token, as the confirmation.`,
    method: 'post',
    path: '/api/v1/account/email-verification/resend',
    auth: 'none',
    headers: commonHeaders,
    body: ResendCodeRequest,
    requests: resendCodeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, ...codeErrors],
  },
  confirmEmailVerification: {
    operationId: 'confirmEmailVerification',
    tag: 'Accounts',
    promises: 'account.md#verification',
    client: 'account.emailVerification.confirm',
    summary: 'Verify the email address with the code',
    description:
      'Needs no access token, only the challenge’s id and the code: where verified email addresses are required, a ' +
      'login answers `ERR-EMAIL-NOT-VERIFIED` with `challenge_id`, and the app has no session yet. Five wrong codes ' +
      'end the challenge.',
    method: 'post',
    path: '/api/v1/account/email-verification/confirm',
    auth: 'none',
    headers: knownHeaders,
    body: ConfirmCodeRequest,
    requests: confirmCodeExamples,
    success: {
      status: 200,
      description: 'The email address is verified.',
      body: EmailVerifiedResponse,
      example: emailVerifiedExample,
    },
    errors: [...common, ...codeErrors],
  },
  requestEmailChange: {
    operationId: 'requestEmailChange',
    tag: 'Accounts',
    promises: 'account.md#address',
    client: 'account.emailChange.request',
    summary: 'Ask for a code to change the email address',
    description:
      'Sends a code of 8 digits to the new address, which is good for 10 minutes; an earlier code for a change is ' +
      'unusable then. If another account has the address the answer is the same: its holder is notified, and no code ' +
      'is sent. A wrong `current_password` counts as a failed login of this device.',
    method: 'post',
    path: '/api/v1/account/email-change',
    auth: 'bearer',
    headers: knownHeaders,
    body: EmailChangeRequest,
    requests: emailChangeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, ...access, ...fresh],
    errorStatuses: refusedStepUp,
  },
  resendEmailChange: {
    operationId: 'resendEmailChange',
    tag: 'Accounts',
    promises: 'account.md#address',
    client: 'account.emailChange.resend',
    summary: 'Send the code to change the email address again',
    description: resent,
    method: 'post',
    path: '/api/v1/account/email-change/resend',
    auth: 'bearer',
    headers: commonHeaders,
    body: ResendCodeRequest,
    requests: resendCodeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, ...access, ...codeErrors],
  },
  confirmEmailChange: {
    operationId: 'confirmEmailChange',
    tag: 'Accounts',
    promises: 'account.md#address',
    client: 'account.emailChange.confirm',
    summary: 'Change the email address with the code',
    description:
      'The new address is verified by it. All other sessions of the caller end, and their streams close with 4001 ' +
      '`SESSION_REVOKED`; this one goes on. All other open codes of the account end. The old address is notified, ' +
      'and can undo the change for 72 hours; nobody else can have it until then. 409 if another account has taken ' +
      'the new address since the code was sent.',
    method: 'post',
    path: '/api/v1/account/email-change/confirm',
    auth: 'bearer',
    headers: knownHeaders,
    body: ConfirmCodeRequest,
    requests: confirmCodeExamples,
    success: {
      status: 200,
      description: 'The new email address holds.',
      body: EmailChangedResponse,
      example: emailChangedExample,
    },
    errors: [...common, ...access, ...codeErrors, 'ERR-EMAIL-ALREADY-EXISTS'],
  },
  undoEmailChange: {
    operationId: 'undoEmailChange',
    tag: 'Accounts',
    promises: 'account.md#address',
    client: 'account.emailChange.undo',
    summary: 'Undo a change of the email address',
    description:
      'With the token of the mail to the old address, for 72 hours: that address holds again, and every change after ' +
      'it is undone too. All sessions and open invites end, and the password is unusable until it is reset (`POST ' +
      '/api/v1/auth/password-reset`).',
    method: 'post',
    path: '/api/v1/auth/email-change/undo',
    auth: 'none',
    headers: commonHeaders,
    body: UndoEmailChangeRequest,
    requests: undoEmailChangeExamples,
    success: {
      status: 200,
      description: 'The old email address holds again.',
      body: EmailChangeUndoneResponse,
      example: emailChangeUndoneExample,
    },
    errors: [...common, ...codeErrors, 'ERR-OVERLOADED'],
  },
} as const satisfies Record<string, Route>;
