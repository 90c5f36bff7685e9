import type { TSchema } from 'typebox';
import { namedSchemas } from './named-schemas.ts';

/** A part of the document: plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * Schemas by their text: TypeBox copies a schema when it makes it optional, so a look-up by identity would miss some.
 */
const names = new Map(Object.entries(namedSchemas).map(([name, schema]) => [JSON.stringify(schema), name]));

/** Returns a schema as the document shows it: names become references, our keywords those of JSON Schema 2020-12. */
export function publishSchema(schema: TSchema): JsonObject {
  return publish(JSON.parse(JSON.stringify(schema)) as JsonObject) as JsonObject;
}

/** Returns `components.schemas` of the named schemas. */
export function publishNamedSchemas(): JsonObject {
  return Object.fromEntries(
    Object.entries(namedSchemas).map(([name, schema]) => [
      name,
      publishMembers(JSON.parse(JSON.stringify(schema)) as JsonObject),
    ]),
  );
}

function publish(value: Json): Json {
  if (isList(value)) return value.map(publish);
  if (value === null || typeof value !== 'object') return value;
  const name = names.get(JSON.stringify(value));
  return name === undefined ? publishMembers(value) : { $ref: `#/components/schemas/${name}` };
}

function publishMembers(schema: JsonObject): JsonObject {
  const { normalizedLength, pattern, ...rest } = schema;
  return {
    ...(isTextEnum(rest) ? { type: 'string' } : {}),
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, publish(value)])),
    ...(typeof pattern === 'string' ? { pattern: portablePattern(pattern) } : {}),
    ...(normalizedLength === undefined ? {} : lengthKeywords(normalizedLength as JsonObject)),
  };
}

/** Nearest equivalent in JSON Schema, which has no normalisation. The description says the rest. */
function lengthKeywords({ minimum, maximum }: JsonObject): JsonObject {
  return {
    minLength: minimum ?? 0,
    ...(maximum === undefined ? {} : { maxLength: maximum }),
    pattern: '^[^\\u0000]*$',
  };
}

/**
 * Removes property escapes, which few readers of JSON Schema support, and surrogates: most readers don't accept a lone
 * one as text.
 */
function portablePattern(pattern: string): string {
  return pattern.replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f').replaceAll('\\p{Cs}', '');
}

function isTextEnum(schema: JsonObject): boolean {
  return isList(schema.enum) && schema.type === undefined && schema.enum.every((value) => typeof value === 'string');
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
