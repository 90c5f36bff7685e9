import type { TSchema } from '@auth-account/contracts/type';
import { Compile, Errors } from 'typebox/schema';

/** Fault of a value that the schema refuses without a reason. */
const unexplained = '/ does not fit the schema';

/**
 * Returns where a value does not fit the schema and what is expected there, such as `/topic must be string`; never a
 * part of the value. The list is empty only if the value fits. It is slow: use a compiled schema to check values that
 * are usually right.
 */
export function faultsOf(schema: TSchema, value: unknown): string[] {
  const [isRight, errors] = Errors(schema, value);
  if (isRight) return [];
  const faults = errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  return faults.length > 0 ? faults : [unexplained];
}

/** Compiles a schema to a function that returns the first fault of a value; undefined if the value fits. */
export function compileCheck(schema: TSchema): (value: unknown) => string | undefined {
  const validator = Compile(schema);
  // The compiled schema decides. `faultsOf` does not use it, and may find no fault.
  return (value) => (validator.Check(value) ? undefined : (faultsOf(schema, value)[0] ?? unexplained));
}
