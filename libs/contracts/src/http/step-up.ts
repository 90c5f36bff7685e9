import * as Type from '../type.ts';
import { demandByMethod, GivenPassword, SealedToken, Seconds, Success, Timestamp } from './fields.ts';
import { RequestOptions, UsedCredential } from './passkey-credentials.ts';

/** Life of a step-up token, in seconds. */
export const stepUpSeconds = 300;
/** Time in which a step-up challenge may be answered, in seconds. */
export const stepUpChallengeSeconds = 600;

/**
 * Purpose of a step-up: the operation that takes the token, or `session`, which renews the session's own proof.
 */
export const StepUpPurpose = Type.Enum([
  'session',
  'password',
  'email_change',
  'deletion',
  'export',
  'totp',
  'recovery_codes',
  'passkeys',
  'identities',
]);
export type StepUpPurpose = Type.Static<typeof StepUpPurpose>;

/** Methods to prove once more who is there. */
export const StepUpMethod = Type.Enum(['password', 'email_code', 'totp', 'recovery_code', 'passkey']);
export type StepUpMethod = Type.Static<typeof StepUpMethod>;

/** Body of `POST /api/v1/account/step-up/challenge`. */
export const StepUpChallengeRequest = Type.Object({ purpose: StepUpPurpose });
export type StepUpChallengeRequest = Type.Static<typeof StepUpChallengeRequest>;

/** Answer 200 of `POST /api/v1/account/step-up/challenge`. */
export const StepUpChallengeResponse = Success(
  Type.Object({
    challenge_id: SealedToken,
    methods: Type.Array(StepUpMethod, { description: 'The methods that count for this account now.' }),
    passkey_options: Type.Optional(RequestOptions),
    expires_at: Timestamp,
    timestamp: Timestamp,
  }),
);
export type StepUpChallengeResponse = Type.Static<typeof StepUpChallengeResponse>;

/** Body of `POST /api/v1/account/step-up`. */
export const StepUpRequest = demandByMethod(
  Type.Object({
    challenge_id: SealedToken,
    method: StepUpMethod,
    password: Type.Optional(GivenPassword),
    code: Type.Optional(
      Type.String({
        readAs: 'code',
        minLength: 1,
        maxLength: 64,
        description: 'The code of the mail or the app, or a recovery code.',
      }),
    ),
    credential: Type.Optional(UsedCredential),
  }),
  { password: ['password'], code: ['email_code', 'totp', 'recovery_code'], credential: ['passkey'] },
);
export type StepUpRequest = Type.Static<typeof StepUpRequest>;

/** Answer 200 of `POST /api/v1/account/step-up`. */
export const StepUpResponse = Success(
  Type.Object({
    step_up_token: Type.Optional(SealedToken),
    expires_at: Type.Optional(Timestamp),
    access_token: Type.Optional(Type.String({ minLength: 1 })),
    token_type: Type.Optional(Type.Literal('Bearer')),
    expires_in: Type.Optional(Seconds),
    timestamp: Timestamp,
  }),
);
export type StepUpResponse = Type.Static<typeof StepUpResponse>;

const challenge_id = '2026-11.c2VhbGVk';
const timestamp = '2026-11-22T09:31:00.000Z';

export const stepUpChallengeExamples = {
  export: { summary: 'Before an export', value: { purpose: 'export' } },
} satisfies Record<string, { summary: string; value: StepUpChallengeRequest }>;

export const stepUpChallengeExample = {
  status: 'success',
  data: { challenge_id, methods: ['password'], expires_at: '2026-11-22T09:41:00.000Z', timestamp },
} satisfies StepUpChallengeResponse;

export const stepUpExamples = {
  password: { summary: 'The password', value: { challenge_id, method: 'password', password: 'correct horse battery' } },
} satisfies Record<string, { summary: string; value: StepUpRequest }>;

export const stepUpExample = {
  status: 'success',
  data: { step_up_token: '2026-11.dG9rZW4', expires_at: '2026-11-22T09:36:00.000Z', timestamp },
} satisfies StepUpResponse;
