export type JsonSchema = { readonly [key: string]: unknown };

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The key by which Kubernetes declares that it accepts fields that are not in the schema. */
const keepsUnknown = 'x-kubernetes-preserve-unknown-fields';

function isClosed(schema: JsonSchema): boolean {
  return isObject(schema.properties) && !('additionalProperties' in schema) && schema[keepsUnknown] !== true;
}

/** Returns true for types that Kubernetes reads both from a number and from text. */
function isNumberOrText(schema: JsonSchema): boolean {
  return schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true;
}

/**
 * Converts a schema of Kubernetes' OpenAPI document or of a CustomResourceDefinition to a JSON Schema that refuses
 * unknown fields, as the API server does with strict field validation.
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  if (isNumberOrText(schema)) return { type: ['string', 'integer'] };
  const strict = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (key === 'properties' && isObject(value)) {
      return [
        key,
        Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toStrictSchema(one as JsonSchema)])),
      ];
    }
    if ((key === 'items' || key === 'additionalProperties') && isObject(value)) return [key, toStrictSchema(value)];
    return [key, value];
  });
  const result = Object.fromEntries(strict);
  return isClosed(schema) ? { ...result, additionalProperties: false } : result;
}
