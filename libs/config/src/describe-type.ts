import { allowedValues, isCommaList, type VariableSchema } from './variable-schema.ts';

function range(low: number | undefined, high: number | undefined, unit = ''): string {
  if (low !== undefined && high !== undefined) return `, ${low} to ${high}${unit}`;
  if (low !== undefined) return `, at least ${low}${unit}`;
  return high === undefined ? '' : `, at most ${high}${unit}`;
}

function text(variable: VariableSchema): string {
  const kind = variable.format ?? 'text';
  const length = variable.minLength === 1 && variable.maxLength === undefined ? '' : lengths(variable);
  return `${kind}${length}${variable.pattern ? ` matching ${variable.pattern}` : ''}`;
}

function lengths(variable: VariableSchema): string {
  return range(variable.minLength, variable.maxLength, ' characters');
}

/** Says in a few words what a variable must hold, such as "integer, 1 to 65535" or "one of info, debug". */
export function describeType(variable: VariableSchema): string {
  const values = allowedValues(variable);
  if (values) return `one of ${values.join(', ')}`;
  if (isCommaList(variable)) return `list of ${describeType(variable.items ?? {})}, separated by commas`;
  switch (variable.type) {
    case 'integer':
    case 'number':
      return `${variable.type}${range(variable.minimum, variable.maximum)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return text(variable);
    default:
      return `JSON ${variable.type ?? 'value'}`;
  }
}
