import { components, configOf, sharedConfig, type Variable } from '../../chart/component-variables.ts';
import type { ValueEntry } from './value-entries.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

const configs: Readonly<Record<string, JsonSchema>> = {
  config: toConfigSchema(sharedConfig()),
  ...Object.fromEntries(components.map((component) => [`${component}.config`, toConfigSchema(configOf(component))])),
};

function isObjectType(type: unknown): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function deduce(value: unknown, path: string): JsonSchema {
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value };
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  throw new Error(`values.yaml: the default of ${path} does not say its type: give it a line "# @schema {…}"`);
}

function toSchema(entry: ValueEntry): JsonSchema {
  const { path, description, value, entries, schema } = entry;
  const config = configs[path];
  if (config) return { description, default: value, ...config };
  if (schema && 'type' in schema) return { description, default: value, ...schema };
  if (entries.length > 0) return { description, ...toMapSchema(entries), ...schema };
  const type = schema && 'enum' in schema ? {} : deduce(value, path);
  return { description, default: value, ...type, ...schema };
}

/** Helm removes a key that a values file leaves empty. Without `required`, a template would fail over that. */
function toMapSchema(entries: readonly ValueEntry[]): JsonSchema {
  const properties = Object.fromEntries(entries.map((entry) => [entry.key, toSchema(entry)]));
  const required = Object.keys(properties).filter((key) => ![properties[key]?.type].flat().includes('null'));
  return { type: 'object', additionalProperties: false, properties, required };
}

/** Returns the JSON Schema of the chart's values, in draft 7, which Helm reads. Maps accept only their listed keys. */
export function toValuesSchema(entries: readonly ValueEntry[]): JsonSchema {
  const { properties, ...root } = toMapSchema(entries);
  // Helm passes `global` to every chart that is part of another.
  const global = { type: 'object', description: 'Values of a chart that this one is part of; nothing here is read' };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart auth-account',
    ...root,
    properties: { ...(properties as JsonSchema), global },
    definitions: toVariableSchemas(sharedConfig()),
  };
}

/** Returns the type of a value in words, for the table. */
export function describeValueType({ path, value, schema, entries }: ValueEntry): string {
  if (configs[path]) return 'variables';
  const { type, enum: allowed } = schema ?? {};
  if (Array.isArray(allowed)) return allowed.map((one) => `\`${one}\``).join(', ');
  if (Array.isArray(type)) return type.join(' or ');
  if (isObjectType(type) || entries.length > 0) return 'map';
  return type === 'array' || Array.isArray(value) ? 'list' : String(type ?? typeof value);
}

/**
 * Returns the schema for values that are written as in YAML or as the text of an environment variable. `null` removes a
 * value that another file sets.
 */
function typeOf(schema: JsonSchema): JsonSchema {
  const { type, minimum, maximum, minLength, maxLength, pattern } = schema;
  const values = Array.isArray(schema.enum) ? schema.enum : undefined;
  if (values) return { enum: [...values, null] };
  switch (type) {
    case 'integer':
      return { type: ['integer', 'string', 'null'], minimum, maximum, pattern: '^-?[0-9]+$' };
    case 'number':
      return { type: ['number', 'string', 'null'], minimum, maximum, pattern: '^-?[0-9.]+$' };
    case 'boolean':
      return { enum: [true, false, 'true', 'false', '1', '0', null] };
    case 'array':
      return { type: ['array', 'string', 'null'], items: schema.items };
    case 'object':
      return { type: ['object', 'string', 'null'], properties: schema.properties, additionalProperties: false };
    default:
      return { type: ['string', 'null'], minLength, maxLength, pattern };
  }
}

/** Returns the JSON Schemas of environment variables in a map `config` of the chart's values, by variable name. */
function toVariableSchemas(variables: readonly Variable[]): Readonly<Record<string, JsonSchema>> {
  const schemas = variables.map(({ name, schema }) => [name, { description: schema.description, ...typeOf(schema) }]);
  return Object.fromEntries(schemas);
}

/** Returns the JSON Schema of a map `config` of only these variables. Their schemas are in the definitions. */
function toConfigSchema(variables: readonly Variable[]): JsonSchema {
  const names = variables.map(({ name }) => name).toSorted();
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }]));
  return { type: 'object', additionalProperties: false, properties };
}
