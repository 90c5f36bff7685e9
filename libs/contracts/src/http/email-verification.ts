import * as Type from '../type.ts';
import { Success, Timestamp } from './fields.ts';

/** Answer 200 of `POST /api/v1/account/email-verification/confirm`. */
export const EmailVerifiedResponse = Success(
  Type.Object({ message: Type.Literal('EMAIL_VERIFIED'), timestamp: Timestamp }),
);
export type EmailVerifiedResponse = Type.Static<typeof EmailVerifiedResponse>;

export const emailVerifiedExample = {
  status: 'success',
  data: { message: 'EMAIL_VERIFIED', timestamp: '2026-11-20T10:02:00.000Z' },
} satisfies EmailVerifiedResponse;
