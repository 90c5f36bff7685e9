import type { DetailFields, DetailType } from './catalogue/row.ts';
import { rowOf, type ThrowableCode } from './catalogue.ts';
import { isValidationItem } from './validation-item.ts';

/**
 * Reads, from an untrusted value, the details that a code's row names. Leaves out everything else (such as `action`, or
 * a word that this version does not know). Returns undefined if a required field is missing or a field has the wrong
 * type.
 */
export function readDetails(code: ThrowableCode, value: unknown): unknown {
  const { details } = rowOf(code);
  if (details === 'validation-items') return readItems(value);
  return readFields(details ?? {}, value);
}

function readItems(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every(isValidationItem)) return undefined;
  return value.map(({ loc, msg, type }) => ({ loc: [...loc], msg, type }));
}

function readFields(fields: DetailFields, value: unknown): unknown {
  const given = (value ?? {}) as Record<string, unknown>;
  const read: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(fields)) {
    const field = given[name];
    if (mayLack(type, field)) continue;
    if (typeof type === 'string' && !fits(type.replace('?', ''), field)) return undefined;
    read[name] = field;
  }
  return read;
}

function mayLack(type: DetailType, value: unknown): boolean {
  if (typeof type === 'string') return value === undefined && type.endsWith('?');
  return !type.some((word) => word === value);
}

function fits(word: string, value: unknown): boolean {
  if (word === 'string[]') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  if (word === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === word;
}
