import {
  ChallengeResponse,
  ConfirmCodeRequest,
  challengeExample,
  confirmCodeExamples,
  ResendCodeRequest,
  resendCodeExamples,
} from '../challenges.ts';
import { PasswordResetRequest, passwordResetExamples } from '../password-reset.ts';
import type { Route } from '../route.ts';
import {
  RemovalOrderedResponse,
  RemovalStoppedResponse,
  removalOrderedExample,
  removalStoppedExample,
  StopRemovalRequest,
  stopRemovalExamples,
} from '../second-factor-removal.ts';
import { access, codeSent, common, commonHeaders, knownHeaders, withoutBody } from './shared.ts';

const codeErrors = ['ERR-CODE-INVALID', 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'] as const;

const stopped = {
  status: 200,
  description: 'No removal waits.',
  body: RemovalStoppedResponse,
  example: removalStoppedExample,
} as const;

/** Operations for people who have lost their second factor. */
export const secondFactorRemovalRoutes = {
  requestSecondFactorRemoval: {
    operationId: 'requestSecondFactorRemoval',
    tag: 'Accounts',
    promises: 'sign-in.md#lost-second-factor',
    client: 'secondFactor.requestRemoval',
    summary: 'Ask for a code to remove a lost second factor',
    description:
      'Sends a code of 8 digits to the email address, which is good for 10 minutes. The answer is the same for an ' +
      'address without an account and for an account without a second factor; nobody is sent a mail then.',
    method: 'post',
    path: '/api/v1/auth/second-factor-removal',
    auth: 'none',
    headers: knownHeaders,
    body: PasswordResetRequest,
    requests: { minimal: passwordResetExamples.minimal },
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-RATE-LIMITED'],
  },
  resendSecondFactorRemoval: {
    operationId: 'resendSecondFactorRemoval',
    tag: 'Accounts',
    promises: 'sign-in.md#lost-second-factor',
    client: 'secondFactor.resendRemoval',
    summary: 'Send the code to remove a lost second factor again',
    description:
      'Sends the same code once more: three times at most, 60 s apart (429 before `resend_at`). It does not live longer ' +
      'for it.',
    method: 'post',
    path: '/api/v1/auth/second-factor-removal/resend',
    auth: 'none',
    headers: commonHeaders,
    body: ResendCodeRequest,
    requests: resendCodeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, ...codeErrors],
  },
  confirmSecondFactorRemoval: {
    operationId: 'confirmSecondFactorRemoval',
    tag: 'Accounts',
    promises: 'sign-in.md#lost-second-factor',
    client: 'secondFactor.confirmRemoval',
    summary: 'Order the removal of a lost second factor with the code',
    description:
      'The second factor goes in 72 hours, with its recovery codes and trusted devices, and all sessions opened ' +
      'until then end. The mailbox and the live sessions are notified at once, and can stop it. A second order ' +
      'leaves the time as it is. Five wrong codes end the challenge.',
    method: 'post',
    path: '/api/v1/auth/second-factor-removal/confirm',
    auth: 'none',
    headers: commonHeaders,
    body: ConfirmCodeRequest,
    requests: confirmCodeExamples,
    success: {
      status: 200,
      description: 'The removal is ordered.',
      body: RemovalOrderedResponse,
      example: removalOrderedExample,
    },
    errors: [...common, ...codeErrors],
  },
  stopSecondFactorRemoval: {
    operationId: 'stopSecondFactorRemoval',
    tag: 'Accounts',
    promises: 'sign-in.md#lost-second-factor',
    client: 'secondFactor.stopRemovalByToken',
    summary: 'Stop the removal of the second factor with the token of the mail',
    description: 'Takes the token of the mail about the order. 410 once the second factor is gone.',
    method: 'post',
    path: '/api/v1/auth/second-factor-removal/stop',
    auth: 'none',
    headers: commonHeaders,
    body: StopRemovalRequest,
    requests: stopRemovalExamples,
    success: stopped,
    errors: [...common, ...codeErrors],
  },
  deleteSecondFactorRemoval: {
    operationId: 'deleteSecondFactorRemoval',
    tag: 'Accounts',
    promises: 'sign-in.md#lost-second-factor',
    client: 'secondFactor.stopRemoval',
    summary: 'Stop the removal of the second factor',
    description: 'Without an order nothing changes. 410 once the removal is due.',
    method: 'delete',
    path: '/api/v1/account/second-factor-removal',
    auth: 'bearer',
    finality: 'fence',
    headers: commonHeaders,
    success: stopped,
    errors: [...withoutBody, ...access, 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'],
  },
} as const satisfies Record<string, Route>;
