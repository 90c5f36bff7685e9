import type { ValidationItem, ValidationType } from '@auth-account/errors';
import type { ErrorObject } from 'ajv/dist/2020.js';
import type { NormalizedLengthParams } from './ajv.ts';

/** Name of a violation in pydantic v2 (docs/specification/requests.md, "Bodies"), with the English text. */
type Violation = readonly [ValidationType, string];

type Describe = (params: Record<string, unknown>) => Violation;

const byKeyword: Record<string, Describe> = {
  required: () => ['missing', 'Field required'],
  minLength: ({ limit }) => ['string_too_short', `String should have at least ${characters(limit)}`],
  maxLength: ({ limit }) => ['string_too_long', `String should have at most ${characters(limit)}`],
  pattern: () => ['string_pattern_mismatch', 'String should match the expected pattern'],
  enum: ({ allowedValues }) => ['enum', `Input should be ${(allowedValues as unknown[]).join(', ')}`],
  format: () => ['uuid_parsing', 'Input should be a valid UUID'],
  minimum: ({ limit }) => ['greater_than_equal', `Input should be greater than or equal to ${limit}`],
  maximum: ({ limit }) => ['less_than_equal', `Input should be less than or equal to ${limit}`],
  normalizedLength: (params) => describeLength(params as unknown as NormalizedLengthParams),
};

const byType: Record<string, Violation> = {
  object: ['model_type', 'Input should be a valid object'],
  string: ['string_type', 'Input should be a valid string'],
  integer: ['int_type', 'Input should be a valid integer'],
  boolean: ['bool_type', 'Input should be a valid boolean'],
};

/** Translates AJV's errors into the contract's shape of a violation, without the refused value. */
export function validationItems(errors: readonly ErrorObject[]): ValidationItem[] {
  // The branches of a choice have errors of their own.
  const own = errors.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'if');
  return own.map(({ keyword, instancePath, params }) => {
    const [type, msg] = describe(keyword, params);
    const path = instancePath.split('/').slice(1).map(unescapePointer);
    return { loc: ['body', ...path, ...(keyword === 'required' ? [String(params.missingProperty)] : [])], msg, type };
  });
}

function describe(keyword: string, params: Record<string, unknown>): Violation {
  if (keyword === 'type')
    return byType[[params.type].flat().find((type) => type !== 'null') as string] ?? other(keyword);
  return byKeyword[keyword]?.(params) ?? other(keyword);
}

function other(keyword: string): Violation {
  return ['value_error', `Value error, ${keyword}`];
}

function describeLength({ violation, limit }: NormalizedLengthParams): Violation {
  if (violation === 'short') return ['string_too_short', `String should have at least ${characters(limit)}`];
  if (violation === 'long') return ['string_too_long', `String should have at most ${characters(limit)}`];
  return ['value_error', 'Value error, the text must be well-formed Unicode without NUL'];
}

function characters(count: unknown): string {
  return count === 1 ? '1 character' : `${count} characters`;
}

/** RFC 6901 section 4. */
function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
