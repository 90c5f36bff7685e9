import type { TObject, TSchema } from '@auth-account/contracts/type';

/** A problem of a variable's value. */
export interface CheckProblem {
  /** Path inside the value, as a JSON pointer: empty for the whole value. */
  readonly path: '' | `/${string}`;
  readonly message: string;
}

/**
 * The part of a variable's JSON Schema that this library reads. Two keywords are our own: `secret` (never shown, may
 * come from a file) and `check`, for rules that JSON Schema can't express. A check runs even if the schema refuses the
 * value or another variable's value, so that all problems show at once. The check must cope with such values.
 */
export interface VariableSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly anyOf?: readonly { readonly const?: string | number }[];
  readonly items?: VariableSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly secret?: boolean;
  readonly check?: VariableCheck;
}

export type VariableCheck = (value: unknown, variables: Readonly<Record<string, unknown>>) => readonly CheckProblem[];

/** The variables of a configuration schema, in the order in which they were declared. */
export function variablesOf(schema: TObject): [name: string, variable: VariableSchema][] {
  return Object.entries<TSchema>(schema.properties);
}

/** The values that a variable is limited to, or undefined if any value of its type will do. */
export function allowedValues(variable: VariableSchema): readonly (string | number)[] | undefined {
  if (variable.enum) return variable.enum;
  const literals = variable.anyOf?.map((option) => option.const);
  return literals?.every((literal) => literal !== undefined) ? literals : undefined;
}

/** True for lists that may be written with commas: every array of text or numbers. */
export function isCommaList(variable: VariableSchema): boolean {
  return variable.type === 'array' && ['string', 'integer', 'number'].includes(variable.items?.type ?? '');
}
