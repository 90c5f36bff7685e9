import {
  ChallengeResponse,
  ConfirmCodeRequest,
  challengeExample,
  confirmCodeExamples,
  ResendCodeRequest,
  resendCodeExamples,
} from '../challenges.ts';
import {
  DeletionRequest,
  DeletionScheduledResponse,
  deletionExamples,
  deletionScheduledExample,
  RestoredResponse,
  RestoreRequest,
  restoredExample,
  restoreExamples,
} from '../deletion.ts';
import { PasswordResetRequest, passwordResetExamples } from '../password-reset.ts';
import type { Route } from '../route.ts';
import { access, codeSent, common, commonHeaders, fresh, knownHeaders, refusedStepUp } from './shared.ts';

const scheduled = {
  status: 202,
  description: 'The account will be erased.',
  body: DeletionScheduledResponse,
  example: deletionScheduledExample,
} as const;

/** Operations that delete an account, or cancel its deletion. */
export const deletionRoutes = {
  scheduleDeletion: {
    operationId: 'scheduleDeletion',
    tag: 'Accounts',
    promises: 'account.md#deletion',
    client: 'account.delete',
    summary: 'Delete the caller’s account',
    description:
      'Ends all sessions at once; their streams close with 4001 `SESSION_REVOKED`. The account is erased at `deletes_at`, ' +
      'a number of days later that the deployment chooses (14 by default, 0 to 30). Until then nobody can log in to it, and ' +
      'it can be restored.\n\n' +
      'Sent twice at once, both get the same `deletes_at`. An account has few orders a day.',
    method: 'post',
    path: '/api/v1/account/deletion',
    auth: 'bearer',
    headers: commonHeaders,
    body: DeletionRequest,
    requests: deletionExamples,
    success: scheduled,
    errors: [...common, ...access, ...fresh],
    errorStatuses: refusedStepUp,
  },
  requestDeletion: {
    operationId: 'requestDeletion',
    tag: 'Accounts',
    promises: 'account.md#deletion',
    client: 'account.deletion.request',
    summary: 'Ask for a code to delete an account',
    description:
      'For whoever has no app any more, such as on a page of the web: the app deletes the account with the password. ' +
      'Sends a code of 8 digits to the email address, which is good for 10 minutes. The answer is the same for an ' +
      'address without an account; nobody is sent a mail then.',
    method: 'post',
    path: '/api/v1/auth/deletion',
    auth: 'none',
    headers: knownHeaders,
    body: PasswordResetRequest,
    requests: passwordResetExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-RATE-LIMITED'],
  },
  resendDeletion: {
    operationId: 'resendDeletion',
    tag: 'Accounts',
    promises: 'account.md#deletion',
    client: 'account.deletion.resend',
    summary: 'Send the code to delete an account again',
    description: 'Sends the same code once more: three times at most, 60 s apart (429 before `resend_at`).',
    method: 'post',
    path: '/api/v1/auth/deletion/resend',
    auth: 'none',
    headers: commonHeaders,
    body: ResendCodeRequest,
    requests: resendCodeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-CODE-INVALID', 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'],
  },
  confirmDeletion: {
    operationId: 'confirmDeletion',
    tag: 'Accounts',
    promises: 'account.md#deletion',
    client: 'account.deletion.confirm',
    summary: 'Delete an account with the code',
    description:
      'Has the effect of a deletion with the password: all sessions end, and the account is erased at `deletes_at`. ' +
      'If the email address was never verified, the password is unusable until it is reset. Five wrong codes end the ' +
      'challenge.',
    method: 'post',
    path: '/api/v1/auth/deletion/confirm',
    auth: 'none',
    headers: commonHeaders,
    body: ConfirmCodeRequest,
    requests: confirmCodeExamples,
    success: scheduled,
    errors: [...common, 'ERR-CODE-INVALID', 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'],
  },
  restoreAccount: {
    operationId: 'restoreAccount',
    tag: 'Accounts',
    promises: 'account.md#deletion',
    client: 'account.restore',
    summary: 'Keep an account that is about to be deleted',
    description:
      'Cancels the deletion, if its time has not come. It opens no session: the app logs in afterwards. Tries count ' +
      'like logins. An account that is not about to be deleted stays, and the answer is the same. On a device that ' +
      'the account does not know, its holder is notified like of a login.',
    method: 'post',
    path: '/api/v1/auth/restore',
    auth: 'none',
    headers: knownHeaders,
    body: RestoreRequest,
    requests: restoreExamples,
    success: { status: 200, description: 'The account stays.', body: RestoredResponse, example: restoredExample },
    errors: [...common, 'ERR-INVALID-CREDENTIALS', 'ERR-ACCOUNT-DISABLED', 'ERR-RATE-LIMITED', 'ERR-OVERLOADED'],
  },
} as const satisfies Record<string, Route>;
