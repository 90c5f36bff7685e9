import type { TSchema } from '../type.ts';
import { namedSchemas } from './named-schemas.ts';

/** A part of the document: plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * Names of the schemas, by the schema's text. TypeBox copies a schema to make it optional, so a look-up by object
 * identity would miss some schemas.
 */
const names = new Map(Object.entries(namedSchemas).map(([name, schema]) => [JSON.stringify(schema), name]));

/**
 * Returns a schema as the document shows it. Named schemas become references, and our own keywords become those of JSON
 * Schema 2020-12.
 */
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
  const { normalizedLength, readAs: _read, pattern, ...rest } = schema;
  return {
    ...(isTextEnum(rest) ? { type: 'string' } : {}),
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, publish(value)])),
    ...(typeof pattern === 'string' ? { pattern: portablePattern(pattern) } : {}),
    ...(normalizedLength === undefined ? {} : lengthKeywords(normalizedLength as JsonObject)),
  };
}

/**
 * Returns the nearest equivalent in JSON Schema, which does not know normalisation. The description explains the
 * difference.
 */
function lengthKeywords({ minimum, maximum }: JsonObject): JsonObject {
  return {
    minLength: minimum ?? 0,
    ...(maximum === undefined ? {} : { maxLength: maximum }),
    pattern: '^[^\\u0000]*$',
  };
}

/**
 * Characters of the Unicode properties in our patterns, as ranges. Surrogates are left out, because most readers of
 * JSON Schema don't accept a lone surrogate as text. Combining marks are left out because they have hundreds of ranges.
 * Characters after U+FFFF are left out because no notation for them is understood everywhere. The service therefore
 * refuses slightly more than the document says.
 */
const propertyRanges = {
  Cc: '\\u0000-\\u001f\\u007f-\\u009f',
  Cs: '',
  M: '',
  Cf:
    '\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u202a-\\u202e' +
    '\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb',
  Z: '\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000',
  Zl: '\\u2028',
  Zp: '\\u2029',
  Zs: '\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000',
  Bidi_Control: '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069',
  Default_Ignorable_Code_Point:
    '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f' +
    '\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8',
};

/** Rewrites property escapes as ranges, because few readers of JSON Schema support them. */
function portablePattern(pattern: string): string {
  const written = Object.entries(propertyRanges);
  const basic = pattern.replaceAll(/\\u\{[0-9a-f]+\}/g, '');
  return written.reduce((text, [name, ranges]) => text.replaceAll(`\\p{${name}}`, ranges), basic);
}

function isTextEnum(schema: JsonObject): boolean {
  return isList(schema.enum) && schema.type === undefined && schema.enum.every((value) => typeof value === 'string');
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
