import * as Type from '../type.ts';

/**
 * Fields of `details` besides `action`. A trailing `?` makes a field optional. A list means that the field is missing
 * or has one of the listed values.
 */
export type DetailTypes = Readonly<Record<string, string | readonly string[]>> | 'validation-items';

const Message = Type.String({ minLength: 1, description: 'For people, in the language of `Content-Language`.' });
const Action = Type.String({
  minLength: 1,
  description: 'Advice for the user, in the language of `Content-Language`.',
});

/** The names of pydantic v2 for the rules that a value can break. */
export const violationTypes = [
  'missing',
  'string_type',
  'string_too_short',
  'string_too_long',
  'string_pattern_mismatch',
  'enum',
  'uuid_parsing',
  'bool_type',
  'int_type',
  'greater_than_equal',
  'less_than_equal',
  'json_invalid',
  'model_type',
  'value_error',
] as const;

/** One violation in a request. It never contains the refused value. */
export const ValidationItem = Type.Object({
  loc: Type.Array(Type.String(), {
    minItems: 1,
    description: 'Place: `body` or `header`, then the path to the value.',
    examples: [['body', 'password']],
  }),
  msg: Type.String({ minLength: 1, description: 'The fault, in English.' }),
  type: Type.Enum([...violationTypes]),
});

/** The body of `ERR-VALIDATION-FAILED`. It lists all violations. */
export const ValidationErrorBody = Type.Object(
  {
    error_code: Type.Literal('ERR-VALIDATION-FAILED'),
    message: Message,
    details: Type.Array(ValidationItem, { minItems: 1 }),
  },
  { additionalProperties: false },
);

/** `details` of every error except a validation error. Some codes have further fields. */
export const ErrorDetails = Type.Object({ action: Action });

/** The body of every other error. */
export const ErrorBody = Type.Object(
  {
    error_code: Type.String({ minLength: 1, description: 'For programs: the code decides what the client does.' }),
    message: Message,
    details: ErrorDetails,
  },
  { additionalProperties: false },
);

/** Returns the schema of a code's error body, with the fields that the code's row in the error catalogue names. */
export function errorBodyOf(code: string, details: DetailTypes = {}): Type.TSchema {
  if (details === 'validation-items') return ValidationErrorBody;
  const fields = Object.entries(details).map(([name, type]) => [name, detailSchema(type)] as const);
  return Type.Object(
    {
      error_code: Type.Literal(code),
      message: Message,
      details: Type.Object({ ...Object.fromEntries(fields), action: Action }),
    },
    { additionalProperties: false },
  );
}

const newerWord = 'A newer service may answer a word that is not listed: to be read as if there were none.';

function detailSchema(type: string | readonly string[]): Type.TSchema {
  if (typeof type !== 'string') return Type.Optional(Type.Enum([...type], { description: newerWord }));
  const schema = ofWord(type.replace(/\?$/, ''));
  return type.endsWith('?') ? Type.Optional(schema) : schema;
}

function ofWord(word: string): Type.TSchema {
  if (word === 'string') return Type.String();
  if (word === 'number') return Type.Number();
  if (word === 'boolean') return Type.Boolean();
  if (word === 'object') return Type.Unsafe<object>({ type: 'object' });
  if (word === 'string[]') return Type.Array(Type.String());
  throw new TypeError(`no schema for details of type ${word}`);
}
