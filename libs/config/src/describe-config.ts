import type { TObject } from '@auth-account/contracts/type';
import { describeType } from './describe-type.ts';
import { variablesOf } from './variable-schema.ts';

/** One environment variable of a service, as docs/configuration.md shows it. */
export interface ConfigRow {
  readonly name: string;
  readonly type: string;
  readonly default: string | undefined;
  readonly required: boolean;
  readonly secret: boolean;
  readonly description: string;
}

function asText(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Lists a configuration schema's variables in the order of their declaration. A variable is required if it has no
 * default and is not optional.
 */
export function describeConfig(schema: TObject): ConfigRow[] {
  const required = new Set<string>(schema.required ?? []);
  return variablesOf(schema).map(([name, variable]) => ({
    name,
    type: describeType(variable),
    default: asText(variable.default),
    required: required.has(name) && variable.default === undefined,
    secret: variable.secret === true,
    description: variable.description ?? '',
  }));
}
