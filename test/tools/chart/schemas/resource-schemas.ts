type JsonSchema = { readonly [key: string]: unknown };

/** A schema, and the name under which kubeconform looks for it, such as `deployment-apps-v1.json`. */
export interface ResourceSchema {
  readonly file: string;
  readonly schema: JsonSchema;
}

interface OpenApi {
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: JsonSchema } }[];
  };
}

function fileOf(group: string, version: string, kind: string): string {
  const parts = [kind, group.split('.')[0], version].filter((part) => part !== '');
  return `${parts.join('-').toLowerCase()}.json`;
}

/** Quantities may also be written as numbers, although the document calls them strings. */
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

function referencesOf(schema: unknown): string[] {
  const found = JSON.stringify(schema).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g);
  return Array.from(found, ([, name = '']) => name);
}

/** Returns a definition with all definitions that it refers to, directly or indirectly. */
function withReferences(name: string, definitions: OpenApi['definitions']): JsonSchema {
  const taken: Record<string, JsonSchema> = {};
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const schema = definitions[next];
    if (next in taken || schema === undefined) continue;
    taken[next] = schema;
    open.push(...referencesOf(schema));
  }
  return { $ref: `#/definitions/${name}`, definitions: taken };
}

/** Returns the schemas of all kinds in Kubernetes' OpenAPI document (version 2). */
export function toBuiltInSchemas({ definitions }: OpenApi): ResourceSchema[] {
  const strict = Object.fromEntries(Object.entries(definitions).map(([name, one]) => [name, toStrictSchema(one)]));
  strict[quantity] = { type: ['string', 'number'] };
  return Object.entries(definitions).flatMap(([name, definition]) => {
    const kinds = (definition['x-kubernetes-group-version-kind'] ?? []) as {
      group: string;
      version: string;
      kind: string;
    }[];
    // A definition without a kind is not an object. One with several kinds (DeleteOptions, WatchEvent) is not a
    // resource.
    const [only, ...more] = kinds;
    if (!only || more.length > 0 || only.kind.endsWith('List')) return [];
    return [{ file: fileOf(only.group, only.version, only.kind), schema: withReferences(name, strict) }];
  });
}

/** Returns the schemas of all versions of a CustomResourceDefinition. */
export function toCustomSchemas({ spec }: CustomResourceDefinition): ResourceSchema[] {
  return spec.versions.map(({ name, schema }) => ({
    file: fileOf(spec.group, name, spec.names.kind),
    schema: toStrictSchema(schema.openAPIV3Schema),
  }));
}

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
function toStrictSchema(schema: JsonSchema): JsonSchema {
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
