import type { TSchema } from '@auth-account/contracts/type';
import { describe, expect, test } from '@jest/globals';
import { compileSchema } from './ajv.ts';
import { validationItems } from './validation-items.ts';

const passwordSchema = { type: 'string', normalizedLength: { minimum: 8, maximum: 128 } };
const object = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) });

const fits = (schema: object, value: unknown) => violationsOf(schema, value).length === 0;

function violationsOf(schema: object, value: unknown) {
  const validate = compileSchema(schema as TSchema);
  return validate(value) ? [] : validationItems(validate.errors ?? []);
}

const within = (field: object) => object({ field });

describe('wording of violations', () => {
  test.each<[string, object, unknown, string, string]>([
    [
      'a short text',
      { type: 'string', minLength: 3 },
      'ab',
      'string_too_short',
      'String should have at least 3 characters',
    ],
    [
      'an empty text',
      { type: 'string', minLength: 1 },
      '',
      'string_too_short',
      'String should have at least 1 character',
    ],
    [
      'a long text',
      { type: 'string', maxLength: 1 },
      'ab',
      'string_too_long',
      'String should have at most 1 character',
    ],
    [
      'a text of another form',
      { type: 'string', pattern: '^a$' },
      'b',
      'string_pattern_mismatch',
      'String should match the expected pattern',
    ],
    ['a word that is none of those', { enum: ['a', 'b'] }, 'c', 'enum', 'Input should be a, b'],
    ['what is no UUID', { type: 'string', format: 'uuid' }, 'x', 'uuid_parsing', 'Input should be a valid UUID'],
    [
      'a small number',
      { type: 'integer', minimum: 2 },
      1,
      'greater_than_equal',
      'Input should be greater than or equal to 2',
    ],
    [
      'a great number',
      { type: 'integer', maximum: 2 },
      3,
      'less_than_equal',
      'Input should be less than or equal to 2',
    ],
    ['what is no text', { type: 'string' }, 1, 'string_type', 'Input should be a valid string'],
    ['what is no text nor null', { type: ['null', 'string'] }, 1, 'string_type', 'Input should be a valid string'],
    ['what is no whole number', { type: 'integer' }, 1.5, 'int_type', 'Input should be a valid integer'],
    ['a number written as text', { type: 'integer' }, '1', 'int_type', 'Input should be a valid integer'],
    ['what is no boolean', { type: 'boolean' }, 'true', 'bool_type', 'Input should be a valid boolean'],
    ['what is no object', { type: 'object' }, [], 'model_type', 'Input should be a valid object'],
    ['what is no list', { type: 'array', items: { type: 'string' } }, {}, 'value_error', 'Value error, type'],
    ['what no word is for', { type: 'array', minItems: 1 }, [], 'value_error', 'Value error, minItems'],
    ['a short password', passwordSchema, '1234567', 'string_too_short', 'String should have at least 8 characters'],
    [
      'a long password',
      passwordSchema,
      'x'.repeat(129),
      'string_too_long',
      'String should have at most 128 characters',
    ],
    [
      'NUL in a password',
      passwordSchema,
      'correct\0horse',
      'value_error',
      'Value error, the text must be well-formed Unicode without NUL',
    ],
    [
      'half a character',
      passwordSchema,
      'correct\ud800horse',
      'value_error',
      'Value error, the text must be well-formed Unicode without NUL',
    ],
    ['a password that is none', passwordSchema, 12345678, 'string_type', 'Input should be a valid string'],
  ])('a violation is worded as pydantic does it: %s', (_, schema, field, type, msg) => {
    expect(violationsOf(within(schema), { field })).toEqual([{ loc: ['body', 'field'], msg, type }]);
  });

  test('a missing field is reported at the place where it should be', () => {
    const schema = object({ outer: within({ type: 'string' }) });
    const missing = { msg: 'Field required', type: 'missing' };
    expect(violationsOf(schema, {})).toEqual([{ loc: ['body', 'outer'], ...missing }]);
    expect(violationsOf(schema, { outer: {} })).toEqual([{ loc: ['body', 'outer', 'field'], ...missing }]);
  });

  test('a body that is no object is reported as pydantic does it', () => {
    const item = { loc: ['body'], msg: 'Input should be a valid object', type: 'model_type' };
    expect(violationsOf({ type: 'object' }, 'text')).toEqual([item]);
  });
});

test('every violation is reported at once', () => {
  const schema = object({ a: { type: 'string', minLength: 2, pattern: '^x' }, b: { type: 'integer' } });
  expect(violationsOf(schema, { a: 'y' }).map(({ type }) => type)).toEqual([
    'missing',
    'string_too_short',
    'string_pattern_mismatch',
  ]);
});

test('names of fields are reported as they were sent, whatever they contain', () => {
  const name = 'a/b~c~1d';
  const schema = object({ [name]: { type: 'array', items: { type: 'string' } } });
  expect(violationsOf(schema, { [name]: ['good', 1] }).map(({ loc }) => loc)).toEqual([['body', name, '1']]);
});

describe('the length of a password', () => {
  test.each([
    ['8 letters', 'x'.repeat(8), true],
    ['128 letters', 'x'.repeat(128), true],
    ['8 characters beyond the first plane', '😀'.repeat(8), true],
    ['128 of them', '😀'.repeat(128), true],
    ['4 ligatures, which are 12 letters after NFKC', 'ﬃ'.repeat(4), true],
    ['43 ligatures, which are 129', 'ﬃ'.repeat(43), false],
    ['7 letters, each with an accent of its own that joins it', 'e\u0301'.repeat(7), false],
    ['8 of them', 'e\u0301'.repeat(8), true],
  ])('the length of a password is counted in characters after NFKC: %s', (_, password, expected) => {
    expect(fits(passwordSchema, password)).toBe(expected);
  });
});

describe('formats of fields', () => {
  const uuid = '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90';

  test.each([
    [uuid, true],
    [uuid.toUpperCase(), true],
    [`urn:uuid:${uuid}`, false],
    [`${uuid}0`, false],
    [`0${uuid}`, false],
    [uuid.slice(1), false],
    [uuid.replaceAll('-', ''), false],
    [uuid.replace('7d', 'gg'), false],
    ['7d0f7a3-452f1-4a4e-9b0e-3a1c5d2e8f90', false],
    ['7d0f7a34-52f-14a4e-9b0e-3a1c5d2e8f90', false],
    ['7d0f7a34-52f1-4a4-e9b0e-3a1c5d2e8f90', false],
    ['7d0f7a34-52f1-4a4e-9b0-e3a1c5d2e8f90', false],
  ])('the text %s is an id: %s', (text, expected) => {
    expect(fits({ type: 'string', format: 'uuid' }, text)).toBe(expected);
  });

  test.each([
    ['2026-11-20T09:30:00.000Z', true],
    ['2026-11-20T09:30:00.000', false],
    ['2026-13-20T09:30:00.000Z', false],
  ])('the text %s is a time: %s', (text, expected) => {
    expect(fits({ type: 'string', format: 'date-time' }, text)).toBe(expected);
  });
});

describe('schemas of the check', () => {
  test('a schema with an unknown keyword is a fault of the program', () => {
    expect(() => compileSchema({ type: 'string', minLenght: 1 } as TSchema)).toThrow('minLenght');
  });

  test('a schema converts nothing, and adds and removes nothing', () => {
    const schema = { type: 'object', properties: { flag: { type: 'boolean', default: true } } };
    const body = { other: 1 };
    expect(violationsOf(schema, body)).toEqual([]);
    expect(body).toEqual({ other: 1 });
  });
});
