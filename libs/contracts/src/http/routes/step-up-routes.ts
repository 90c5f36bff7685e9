import type { Route } from '../route.ts';
import {
  StepUpChallengeRequest,
  StepUpChallengeResponse,
  StepUpRequest,
  StepUpResponse,
  stepUpChallengeExample,
  stepUpChallengeExamples,
  stepUpExample,
  stepUpExamples,
} from '../step-up.ts';
import { access, common, commonHeaders, refusedStepUp } from './shared.ts';

/** Operations by which the user of a session proves once more who is there. */
export const stepUpRoutes = {
  createStepUpChallenge: {
    operationId: 'createStepUpChallenge',
    tag: 'Accounts',
    promises: 'sign-in.md#step-up',
    client: 'stepUp.challenge',
    summary: 'Ask how to prove once more who is there',
    description:
      'The answer names the methods that count for this account. Only an account that has no other one is mailed a ' +
      'code, under the limits of all codes.',
    method: 'post',
    path: '/api/v1/account/step-up/challenge',
    auth: 'bearer',
    headers: commonHeaders,
    body: StepUpChallengeRequest,
    requests: stepUpChallengeExamples,
    success: {
      status: 200,
      description: 'The challenge, for this session and purpose.',
      body: StepUpChallengeResponse,
      example: stepUpChallengeExample,
    },
    errors: [...common, ...access, 'ERR-RATE-LIMITED'],
  },
  confirmStepUp: {
    operationId: 'confirmStepUp',
    tag: 'Accounts',
    promises: 'sign-in.md#step-up',
    client: 'stepUp.confirm',
    summary: 'Prove once more who is there',
    description:
      'Gives a `step_up_token`, which counts once, for five minutes, for this session and the purpose of the challenge. ' +
      'The purpose `session` gives a new access token of the same session instead, whose `auth_time`, `amr` and `acr` ' +
      'are those of this proof. `password`, `code` or `credential` goes with the `method` that needs it. The same ' +
      'request with `code` or `credential` gets a token of the same id, or the renewed session, again for 60 s.',
    method: 'post',
    path: '/api/v1/account/step-up',
    auth: 'bearer',
    headers: commonHeaders,
    body: StepUpRequest,
    requests: stepUpExamples,
    success: { status: 200, description: 'The proof was right.', body: StepUpResponse, example: stepUpExample },
    errors: [
      ...common,
      ...access,
      'ERR-REAUTHENTICATION-FAILED',
      'ERR-STEP-UP-REQUIRED',
      'ERR-SECOND-FACTOR-INVALID',
      'ERR-PASSKEY-INVALID',
      'ERR-CODE-INVALID',
      'ERR-CODE-EXPIRED',
      'ERR-RATE-LIMITED',
      'ERR-OVERLOADED',
    ],
    errorStatuses: refusedStepUp,
  },
} as const satisfies Record<string, Route>;
