import * as Type from '../type.ts';
import { Success, Timestamp, Uuid } from './fields.ts';

/** Time in which a code may be confirmed, in seconds. */
export const codeLifeSeconds = 600;
/** Number of wrong codes after which a challenge ends. */
export const codeTries = 5;
/** Number of times that a code may be sent again. */
export const codeResends = 3;
/** Seconds between two mails with the same code. */
export const codeResendSeconds = 60;

/** The code in an e-mail. It is a text of 8 decimal digits, because leading zeros count. */
export const Code = Type.String({ readAs: 'code', pattern: '^[0-9]{8}$', examples: ['04815162'] });

const challengeFields = {
  challenge_id: Uuid,
  expires_at: Timestamp,
  resend_at: Type.Unsafe<string | null>({
    ...Timestamp,
    type: ['string', 'null'],
    description: 'Time from which the code may be sent again; null if it was sent as often as it may be.',
  }),
};

/** Answer 202 to a request for a code. It is the same whether or not a mail is sent. */
export const ChallengeResponse = Success(Type.Object({ ...challengeFields, timestamp: Timestamp }));
export type ChallengeResponse = Type.Static<typeof ChallengeResponse>;

/** Body of a request to send a code again. */
export const ResendCodeRequest = Type.Object({ challenge_id: Uuid });
export type ResendCodeRequest = Type.Static<typeof ResendCodeRequest>;

/** Body that confirms a code. */
export const ConfirmCodeRequest = Type.Object({ challenge_id: Uuid, code: Code });
export type ConfirmCodeRequest = Type.Static<typeof ConfirmCodeRequest>;

export const exampleChallengeId = '5f0c1f6a-9a3e-4a57-9c1d-7e2b8d4f6a10';
export const exampleCode = '04815162';

export const challengeExample = {
  status: 'success',
  data: {
    challenge_id: exampleChallengeId,
    expires_at: '2026-11-20T10:10:00.000Z',
    resend_at: '2026-11-20T10:01:00.000Z',
    timestamp: '2026-11-20T10:00:00.000Z',
  },
} satisfies ChallengeResponse;

export const resendCodeExamples = {
  challenge: { summary: 'The challenge of the request', value: { challenge_id: exampleChallengeId } },
} satisfies Record<string, { summary: string; value: ResendCodeRequest }>;

export const confirmCodeExamples = {
  code: { summary: 'The code of the mail', value: { challenge_id: exampleChallengeId, code: exampleCode } },
} satisfies Record<string, { summary: string; value: ConfirmCodeRequest }>;
