import * as Type from '../type.ts';
import { Success, Timestamp } from './fields.ts';

/** Body of `POST /api/v1/hooks/{provider}`. */
export const ProviderNoticeRequest = Type.Object({
  payload: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description: 'A JWT that the provider has signed.',
    examples: ['eyJhbGciOiJSUzI1NiJ9.e30.c2ln'],
  }),
});
export type ProviderNoticeRequest = Type.Static<typeof ProviderNoticeRequest>;

/** Answer 200 of `POST /api/v1/hooks/{provider}`, and 202 of a security event token. */
export const ProviderNoticeResponse = Success(
  Type.Object({ message: Type.Literal('NOTICE_RECEIVED'), timestamp: Timestamp }),
);
export type ProviderNoticeResponse = Type.Static<typeof ProviderNoticeResponse>;

export const providerNoticeExample = {
  status: 'success',
  data: { message: 'NOTICE_RECEIVED', timestamp: '2026-11-22T09:31:00.000Z' },
} satisfies ProviderNoticeResponse;
