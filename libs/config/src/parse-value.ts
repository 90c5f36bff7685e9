import { allowedValues, isCommaList, type VariableSchema } from './variable-schema.ts';

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // left as text, so that the validation reports the wrong type
  }
}

function parseNumber(text: string): unknown {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

function parseList(variable: VariableSchema, text: string): unknown {
  if (text.startsWith('[')) return parseJson(text);
  const items = text.split(',').map((item) => item.trim());
  return items.filter((item) => item !== '').map((item) => parseValue(variable.items ?? {}, item));
}

/**
 * Converts a variable's text to the type that its schema asks for. Text that can't be converted is returned unchanged,
 * because the validation alone decides whether a value is valid.
 */
export function parseValue(variable: VariableSchema, text: string): unknown {
  const values = allowedValues(variable);
  if (values) return values.find((value) => String(value) === text) ?? text;
  const trimmed = text.trim();
  switch (variable.type) {
    case 'integer':
    case 'number':
      return parseNumber(trimmed);
    case 'boolean':
      return BOOLEANS[trimmed.toLowerCase()] ?? text;
    case 'array':
      return isCommaList(variable) ? parseList(variable, trimmed) : parseJson(text);
    case 'object':
      return parseJson(text);
    default:
      return text;
  }
}
