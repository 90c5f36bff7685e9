import type { TSchema } from '@auth-account/contracts/type';
import { Errors } from 'typebox/schema';

/**
 * Returns where a value does not fit the schema and what is expected there, such as `/topic must be string`; never a
 * part of the value. It is slow: use a compiled schema to check values that are usually right.
 */
export function faultsOf(schema: TSchema, value: unknown): string[] {
  const [, errors] = Errors(schema, value);
  return errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
}
