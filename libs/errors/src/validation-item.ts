/** The error types of pydantic v2 that `type` may have. */
export const validationTypes = [
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

export type ValidationType = (typeof validationTypes)[number];

/**
 * One violation: the field's location, an English message, and the rule that was broken. It never has the value itself.
 */
export interface ValidationItem {
  loc: string[];
  msg: string;
  type: ValidationType;
}

function isValidationType(value: unknown): value is ValidationType {
  return validationTypes.some((type) => type === value);
}

/** Returns true if the value has the shape of a validation item; further fields are allowed. */
export function isValidationItem(value: unknown): value is ValidationItem {
  const { loc, msg, type } = (value ?? {}) as Record<string, unknown>;
  const isLoc = Array.isArray(loc) && loc.every((part) => typeof part === 'string');
  return isLoc && typeof msg === 'string' && isValidationType(type);
}
