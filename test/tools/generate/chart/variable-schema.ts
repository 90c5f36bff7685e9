import type { Variable } from '../../chart/component-variables.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

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
export function toVariableSchemas(variables: readonly Variable[]): Readonly<Record<string, JsonSchema>> {
  const schemas = variables.map(({ name, schema }) => [name, { description: schema.description, ...typeOf(schema) }]);
  return Object.fromEntries(schemas);
}

/** Returns the JSON Schema of a map `config` of only these variables. Their schemas are in the definitions. */
export function toConfigSchema(variables: readonly Variable[]): JsonSchema {
  const names = variables.map(({ name }) => name).toSorted();
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }]));
  return { type: 'object', additionalProperties: false, properties };
}
