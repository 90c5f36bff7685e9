import { routes } from '@auth-account/contracts';
import { asyncApiDocument } from '@auth-account/contracts/asyncapi';
import {
  type DocumentedError,
  type ErrorExample,
  type ErrorReaction,
  openApiDocument,
} from '@auth-account/contracts/openapi';
import {
  AppError,
  type AppErrorOptions,
  catalogue,
  errorCodes,
  rowOf,
  type ThrowableCode,
  toHttp,
  type ValidationItem,
} from '@auth-account/errors';

/** A route that declares a code without a row in the error catalogue does not compile. */
type DeclaredCode = (typeof routes)[keyof typeof routes]['errors'][number];
const declaredCodes = [
  ...new Set(Object.values(routes).flatMap((route): readonly DeclaredCode[] => route.errors)),
] satisfies readonly ThrowableCode[];

const item: ValidationItem = {
  loc: ['body', 'password'],
  msg: 'String should have at least 8 characters',
  type: 'string_too_short',
};
const invite = { provided_token: '9b2f1c9e-5e0d-4c57-8a54-0a6a3c8f7f11' };

type Sample = { readonly [name: string]: AppError };

/** Examples for codes whose answers have more members than their rows declare. */
const samples: Partial<Record<ThrowableCode, Sample>> = {
  'ERR-VALIDATION-FAILED': {
    'ERR-VALIDATION-FAILED': new AppError('ERR-VALIDATION-FAILED', { details: [item] }),
    'ERR-VALIDATION-FAILED (header)': new AppError('ERR-VALIDATION-FAILED', {
      details: [
        {
          loc: ['header', 'X-Request-ID'],
          msg: 'Value must be a single header of 1 to 128 characters of A-Z a-z 0-9 . _ ~ : / + = -',
          type: 'string_pattern_mismatch',
        },
      ],
    }),
  },
  IAD_JWT_REFRESH_STOLEN: Object.fromEntries(
    catalogue.IAD_JWT_REFRESH_STOLEN.details.reason.map((reason) => [
      `IAD_JWT_REFRESH_STOLEN (${reason})`,
      new AppError('IAD_JWT_REFRESH_STOLEN', { details: { reason } }),
    ]),
  ),
  'ERR-EMAIL-ALREADY-EXISTS': {
    'ERR-EMAIL-ALREADY-EXISTS': new AppError('ERR-EMAIL-ALREADY-EXISTS', {
      details: { rejected_email: 'cook@example.com' },
    }),
  },
  'ERR-CODE-INVALID': {
    'ERR-CODE-INVALID (wrong)': new AppError('ERR-CODE-INVALID', { details: { tries_left: 4 } }),
    'ERR-CODE-INVALID (dead or unknown)': new AppError('ERR-CODE-INVALID', { details: { tries_left: 0 } }),
  },
  'ERR-ACCOUNT-DELETION-SCHEDULED': {
    'ERR-ACCOUNT-DELETION-SCHEDULED': new AppError('ERR-ACCOUNT-DELETION-SCHEDULED', {
      details: { deletes_at: '2026-12-06T09:31:00.000Z' },
    }),
  },
  'ERR-EMAIL-NOT-VERIFIED': {
    'ERR-EMAIL-NOT-VERIFIED': new AppError('ERR-EMAIL-NOT-VERIFIED', {
      details: {
        challenge_id: '5f0c1f6a-9a3e-4a57-9c1d-7e2b8d4f6a10',
        expires_at: '2026-11-20T10:10:00.000Z',
        resend_at: '2026-11-20T10:01:00.000Z',
      },
    }),
  },
  'ERR-SECOND-FACTOR-REQUIRED': {
    'ERR-SECOND-FACTOR-REQUIRED': new AppError('ERR-SECOND-FACTOR-REQUIRED', {
      details: {
        challenge_id: 's1.kX2d8dUuJvX5m1cFbRk0v0S4qQ',
        methods: ['totp', 'recovery_code'],
        expires_at: '2026-11-20T10:10:00.000Z',
      },
    }),
  },
  'ERR-SECOND-FACTOR-INVALID': {
    'ERR-SECOND-FACTOR-INVALID': new AppError('ERR-SECOND-FACTOR-INVALID', { details: { tries_left: 4 } }),
  },
  'ERR-STEP-UP-REQUIRED': {
    'ERR-STEP-UP-REQUIRED': new AppError('ERR-STEP-UP-REQUIRED', { details: { methods: ['totp'], max_age: 300 } }),
  },
  'ERR-PASSKEY-LIMIT-REACHED': {
    'ERR-PASSKEY-LIMIT-REACHED': new AppError('ERR-PASSKEY-LIMIT-REACHED', { details: { limit: 20 } }),
  },
  'ERR-IDENTITY-TOKEN-INVALID': {
    'ERR-IDENTITY-TOKEN-INVALID': new AppError('ERR-IDENTITY-TOKEN-INVALID'),
    'ERR-IDENTITY-TOKEN-INVALID (of a session’s user)': new AppError('ERR-IDENTITY-TOKEN-INVALID', { status: 422 }),
  },
  'ERR-REGISTRATION-REQUIRED': {
    'ERR-REGISTRATION-REQUIRED': new AppError('ERR-REGISTRATION-REQUIRED', {
      details: { email: 'cook@example.com', display_name: 'Anna' },
    }),
  },
  'ERR-ACCOUNT-LINK-REQUIRED': {
    'ERR-ACCOUNT-LINK-REQUIRED': new AppError('ERR-ACCOUNT-LINK-REQUIRED', {
      details: {
        link_challenge_id: '2026-11.Zm9yIHRoZSBkb2N1bWVudGF0aW9uIG9ubHk',
        methods: ['password', 'email_code'],
        expires_at: '2026-11-20T10:10:00.000Z',
      },
    }),
  },
  'ERR-IDENTITY-LIMIT-REACHED': {
    'ERR-IDENTITY-LIMIT-REACHED': new AppError('ERR-IDENTITY-LIMIT-REACHED', { details: { limit: 10 } }),
  },
  'ERR-INVITE-LIMIT-REACHED': {
    'ERR-INVITE-LIMIT-REACHED': new AppError('ERR-INVITE-LIMIT-REACHED', { details: { limit: 100 } }),
  },
  'ERR-INVITE-TOKEN-INVALID': {
    'ERR-INVITE-TOKEN-INVALID (unknown)': new AppError('ERR-INVITE-TOKEN-INVALID', { details: invite }),
    'ERR-INVITE-TOKEN-INVALID (expired)': new AppError('ERR-INVITE-TOKEN-INVALID', {
      status: 410,
      canonical: 'IAD_GROUP_INVITE_EXPIRED',
      details: invite,
    }),
    'ERR-INVITE-TOKEN-INVALID (revoked or used up)': new AppError('ERR-INVITE-TOKEN-INVALID', {
      status: 410,
      details: invite,
    }),
  },
};

/**
 * Returns the rows of the catalogue that the routes declare. Like real answers, their examples are made by `toHttp`.
 */
function documentedErrors(): Record<string, DocumentedError> {
  return Object.fromEntries(declaredCodes.map((code) => [code, documented(code)]));
}

/**
 * Returns the reaction that each row of the catalogue asks of a client, including codes that only other services use.
 */
function errorReactions(): Record<string, ErrorReaction> {
  return Object.fromEntries(
    errorCodes.map((code) => {
      const { http, reaction, retry } = rowOf(code);
      return [code, { http, reaction: { ...reaction }, retry }];
    }),
  );
}

function documented(code: ThrowableCode): DocumentedError {
  const { http, httpAlternatives = [], meaning, reactionText, reaction, retry, details } = rowOf(code);
  const sample = samples[code] ?? { [code]: new AppError<ThrowableCode>(code, {} as AppErrorOptions<ThrowableCode>) };
  return {
    statuses: [http, ...httpAlternatives],
    meaning,
    advice: reactionText,
    reaction: { ...reaction },
    retry,
    details,
    examples: Object.entries(sample).map(([name, error]) => exampleOf(name, error)),
  };
}

function exampleOf(name: string, error: AppError): ErrorExample {
  return { name, ...toHttp(error, { locale: 'en' }) };
}

/** Returns the text of the OpenAPI document, which `/openapi.json` serves and docs/openapi.json holds. */
export function apiDocument(): string {
  return `${JSON.stringify(openApiDocument(documentedErrors(), errorReactions()), null, 2)}\n`;
}

/** Returns the AsyncAPI document of the push streams, which `/asyncapi.json` serves and docs/asyncapi.json holds. */
export function streamDocument(): string {
  return `${JSON.stringify(asyncApiDocument(errorReactions()), null, 2)}\n`;
}
