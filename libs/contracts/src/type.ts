import type * as typebox from 'typebox';

/**
 * Builders of JSON Schemas, with typebox's types: those that the project's schemas need. At run time there is no
 * typebox, because its 373 modules cost each process 110 ms of CPU and 18 MB.
 *
 * @example
 * import * as Type from '@auth-account/contracts/type';
 *
 * const Point = Type.Object({ x: Type.Number(), name: Type.Optional(Type.String()) });
 * type Point = Type.Static<typeof Point>;
 */
export type { Static, TInteger, TObject, TSchema } from 'typebox';

/** Schemas of properties that may be missing. A schema itself cannot say so in JSON Schema. */
const optionals = new WeakSet<object>();

const array: typeof typebox.Array = (items: object, options?: object) =>
  ({ type: 'array', items, ...options }) as never;

const boolean: typeof typebox.Boolean = (options?: object) => ({ type: 'boolean', ...options }) as never;

const enumeration: typeof typebox.Enum = (values: unknown, options?: object) => ({ enum: values, ...options }) as never;

const integer: typeof typebox.Integer = (options?: object) => ({ type: 'integer', ...options }) as never;

const literal: typeof typebox.Literal = (value: unknown, options?: object) =>
  ({ type: typeof value, const: value, ...options }) as never;

const nothing: typeof typebox.Null = (options?: object) => ({ type: 'null', ...options }) as never;

const number: typeof typebox.Number = (options?: object) => ({ type: 'number', ...options }) as never;

const object: typeof typebox.Object = (properties: Readonly<Record<string, object>>, options?: object) => {
  const required = Object.keys(properties).filter((name) => !optionals.has(Object(properties[name])));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options } as never;
};

const optional: typeof typebox.Optional = (schema: object) => {
  const copy = { ...schema };
  optionals.add(copy);
  return copy as never;
};

const string: typeof typebox.String = (options?: object) => ({ type: 'string', ...options }) as never;

const union: typeof typebox.Union = (anyOf: unknown, options?: object) => ({ anyOf, ...options }) as never;

const unknown: typeof typebox.Unknown = (options?: object) => ({ ...options }) as never;

const unsafe: typeof typebox.Unsafe = (schema: unknown) => ({ ...Object(schema) }) as never;

export {
  array as Array,
  boolean as Boolean,
  enumeration as Enum,
  integer as Integer,
  literal as Literal,
  nothing as Null,
  number as Number,
  object as Object,
  optional as Optional,
  string as String,
  union as Union,
  unknown as Unknown,
  unsafe as Unsafe,
};
