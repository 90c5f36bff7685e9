import { AppError, type AppErrorOptions } from './app-error.ts';
import type { DetailFields, DetailType } from './catalogue/row.ts';
import { rowOf, type ThrowableCode } from './catalogue.ts';

/** Creates an error of the code with every field of details that its row names. */
export function sampleError(code: ThrowableCode): AppError {
  const { details } = rowOf(code);
  const filled = details === 'validation-items' ? sampleItems : sampleFields(details ?? {});
  return new AppError<ThrowableCode>(code, { details: filled } as AppErrorOptions<ThrowableCode>);
}

const sampleItems = [
  { loc: ['body', 'password'], msg: 'String should have at least 8 characters', type: 'string_too_short' },
  { loc: ['body', 'a.b~1', '', '0'], msg: 'Field required', type: 'missing' },
];

function sampleFields(fields: DetailFields): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = {
    string: 'text "ё"',
    number: 1.5,
    boolean: true,
    'string[]': ['one', 'two'],
    object: { any: [{ depth: null }, 2, 'text'], on: false },
  };
  const sampleOf = (type: DetailType) => (typeof type === 'string' ? values[type.replace('?', '')] : type.at(-1));
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, sampleOf(type)]));
}
