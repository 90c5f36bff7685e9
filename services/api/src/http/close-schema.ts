import type { TSchema } from 'typebox';

/** The schema with `additionalProperties: false` on every object that lists its properties. */
export function closeSchema(schema: TSchema): TSchema {
  return close(JSON.parse(JSON.stringify(schema))) as TSchema;
}

function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const closed = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, close(member)]));
  return closed.type === 'object' && 'properties' in closed ? { ...closed, additionalProperties: false } : closed;
}
