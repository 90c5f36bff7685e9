import { expect, test } from '@jest/globals';
import { AppError } from './app-error.ts';
import type { EndpointRows } from './catalogue/row.ts';
import type { CatalogueCode, EndpointCode, ErrorCode, NoticeCode, ThrowableCode } from './catalogue.ts';
import type { DetailsOf, StatusOf } from './error-details.ts';
import { en } from './locales/en.ts';
import type { Messages } from './locales/messages.ts';
import { notice } from './notice.ts';
import type { ValidationItem } from './validation-item.ts';

/*
 * tsc checks this file: each `@ts-expect-error` fails the type check if the line below it compiles. `refused` is called
 * once, to show that the constructor also refuses what the types forbid.
 */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>() => undefined;

holds<Equal<NoticeCode, 'INV_STOCK_MASKED_MINUS'>>();
holds<Equal<ErrorCode, CatalogueCode | EndpointCode>>();
holds<Equal<ErrorCode, ThrowableCode | NoticeCode>>();
holds<Equal<StatusOf<'ERR-INVITE-TOKEN-INVALID'>, 404 | 410>>();
holds<Equal<StatusOf<'ERR-INTERNAL'>, 500>>();
holds<Equal<DetailsOf<'ERR-EMAIL-ALREADY-EXISTS'>, { readonly rejected_email: string }>>();
holds<Equal<DetailsOf<'ERR-VALIDATION-FAILED'>, readonly ValidationItem[]>>();
holds<Equal<DetailsOf<'INV_STOCK_INSUFFICIENT_OFFICE'>, { readonly available?: number; readonly unit?: string }>>();

holds<
  Equal<
    DetailsOf<'IAD_JWT_REFRESH_STOLEN'>,
    {
      readonly reason?:
        | 'logged_out'
        | 'revoked'
        | 'replaced'
        | 'session_limit'
        | 'forced'
        | 'password_changed'
        | 'account_disabled'
        | 'account_deleted'
        | 'reused';
    }
  >
>();

const refused = [
  // @ts-expect-error a notice is not thrown
  () => new AppError('INV_STOCK_MASKED_MINUS'),
  // @ts-expect-error the code is not in the table
  () => new AppError('ERR-NO-SUCH-CODE'),
  // @ts-expect-error the row has one status
  () => new AppError('ERR-INTERNAL', { status: 503 }),
  // @ts-expect-error the row has two statuses, and this is neither
  () => new AppError('ERR-INVITE-TOKEN-INVALID', { details: { provided_token: '' }, status: 409 }),
  // @ts-expect-error an endpoint code is no canonical one
  () => new AppError('ERR-INTERNAL', { canonical: 'ERR-OVERLOADED' }),
];

/** Never called, because only the types check details, not the constructor. */
export const refusedByTypesOnly = [
  // @ts-expect-error rejected_email is required
  () => new AppError('ERR-EMAIL-ALREADY-EXISTS'),
  // @ts-expect-error rejected_email is required
  () => new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: {} }),
  // @ts-expect-error the items are required
  () => new AppError('ERR-VALIDATION-FAILED'),
  // @ts-expect-error details of another code
  () => new AppError('ERR-INVITE-TOKEN-INVALID', { details: { rejected_email: 'a@b.c' } }),
  // @ts-expect-error the row names no details
  () => new AppError('IAD_JWT_ACCESS_EXPIRED', { details: { token: 'x' } }),
  // @ts-expect-error the reason is none of the words
  () => new AppError('IAD_JWT_REFRESH_STOLEN', { details: { reason: 'stolen' } }),
  // @ts-expect-error the type is none of the words
  () => new AppError('ERR-VALIDATION-FAILED', { details: [{ loc: ['body'], msg: 'x', type: 'too_short' }] }),
  // @ts-expect-error only notices
  () => notice('ERR-INTERNAL', { locale: 'en' }),
  // @ts-expect-error there is no such language
  () => notice('INV_STOCK_MASKED_MINUS', { locale: 'de' }),
];

const { 'ERR-INTERNAL': _, ...incomplete } = en;
// @ts-expect-error a language that lacks a code does not compile
export const messages: Messages = incomplete;

const { reused: __, ...tooFew } = en.IAD_JWT_REFRESH_STOLEN.variants.reason;
// @ts-expect-error nor does one that lacks the text of a reason
export const variants: Messages['IAD_JWT_REFRESH_STOLEN']['variants']['reason'] = tooFew;

export const rows = {
  'ERR-EXAMPLE': {
    domain: 'ENDPOINT',
    kind: 'error',
    // @ts-expect-error the number of NOT_FOUND is 5
    grpc: { name: 'NOT_FOUND', number: 6 },
    http: 404,
    meaning: '',
    reactionText: '',
    reaction: { type: 'REPORT' },
    retry: 'never',
    severity: 'info',
  },
} as const satisfies EndpointRows;

test.each(refused)('every error that the types refuse, the constructor refuses too (%#)', (construct) => {
  expect(construct).toThrow(TypeError);
});
