import * as Type from '../type.ts';
import { Success, Timestamp } from './fields.ts';

/** Shortened, because examples contain no real tokens. */
export const exampleEventToken = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';

/** Body of `POST /api/v1/hooks/{provider}`. */
export const ProviderNoticeRequest = Type.Object({
  payload: Type.String({
    minLength: 1,
    // The rest of a body of 16 KiB is `{"payload":""}`.
    maxLength: 16_370,
    description: 'A JWT that the provider has signed.',
    examples: [exampleEventToken],
  }),
});
export type ProviderNoticeRequest = Type.Static<typeof ProviderNoticeRequest>;

/** Answer 200 of `POST /api/v1/hooks/{provider}`. */
export const ProviderNoticeResponse = Success(
  Type.Object({ message: Type.Literal('NOTICE_RECEIVED'), timestamp: Timestamp }),
);
export type ProviderNoticeResponse = Type.Static<typeof ProviderNoticeResponse>;

export const securityEventTokenExamples = {
  apple: { summary: 'As Apple sends it', value: { payload: exampleEventToken } },
} satisfies Record<string, { summary: string; value: ProviderNoticeRequest }>;

export const securityEventTokenExample = {
  status: 'success',
  data: { message: 'NOTICE_RECEIVED', timestamp: '2026-11-22T09:31:00.000Z' },
} satisfies ProviderNoticeResponse;

/** Answer 400 to a security event token (RFC 8935, section 2.3). */
export const EventTokenRefusal = Type.Object({
  err: Type.Enum(['invalid_request', 'invalid_key', 'invalid_issuer', 'invalid_audience', 'authentication_failed']),
  description: Type.String(),
});
export type EventTokenRefusal = Type.Static<typeof EventTokenRefusal>;

export const eventTokenRefusalExample = {
  err: 'invalid_audience',
  description: 'The security event token is refused: audience.',
} satisfies EventTokenRefusal;
