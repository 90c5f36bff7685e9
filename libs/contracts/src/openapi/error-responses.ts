import { type ErrorDetails, errorBodyOf } from '../http/error-body.ts';
import { type Json, type JsonObject, publishSchema } from './publish-schema.ts';
import { headersOf } from './response-headers.ts';

/** An answer that documents an error code, built by the same code as the real answers. */
export interface ErrorExample {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Documentation of an error code: its row of the catalogue, and one or more examples for each status. */
export interface DocumentedError {
  readonly statuses: readonly number[];
  readonly meaning: string;
  readonly reaction: string;
  readonly details?: ErrorDetails | undefined;
  readonly examples: readonly ErrorExample[];
}

export type DocumentedErrors = Readonly<Record<string, DocumentedError>>;

/** Component name of a code whose `details` have their own fields. */
export function errorSchemaName(code: string): string {
  const words = code.replace(/^ERR-/, '').toLowerCase().split(/[-_]/);
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}ErrorBody`;
}

export function hasOwnSchema({ details }: DocumentedError): boolean {
  return details !== undefined && details !== 'validation-items';
}

/**
 * Returns the error responses of an operation, by status: the codes, when they occur, what to do, headers and examples.
 */
export function errorResponses(codes: readonly string[], errors: DocumentedErrors, further: JsonObject): JsonObject {
  const all = codes.flatMap((code) => {
    const error = errors[code];
    if (error === undefined) throw new Error(`the error catalogue has no ${code}`);
    return error.statuses.map((status) => {
      if (!error.examples.some((example) => example.status === status))
        throw new Error(`no example of ${code} ${status}`);
      return { code, error, status };
    });
  });
  const byStatus = [...Map.groupBy(all, ({ status }) => status)].sort(([a], [b]) => a - b);
  return Object.fromEntries(byStatus.map(([status, group]) => [String(status), responseOf(status, group, further)]));
}

interface Documented {
  readonly code: string;
  readonly error: DocumentedError;
}

function responseOf(status: number, group: readonly Documented[], further: JsonObject): JsonObject {
  const examples = group.flatMap(({ error }) => error.examples.filter((example) => example.status === status));
  const names = new Set(['X-Request-ID', ...examples.flatMap(({ headers }) => Object.keys(headers))]);
  const isAlways = (name: string) => name === 'X-Request-ID' || examples.every(({ headers }) => name in headers);
  return {
    description: group.map(({ code, error }) => `- \`${code}\`: ${error.meaning} ${error.reaction}`).join('\n'),
    headers: { ...headersOf(names, isAlways), ...further },
    content: {
      'application/json': {
        schema: schemaOf(group),
        examples: Object.fromEntries(examples.map(({ name, body }) => [name, { value: body as Json }])),
      },
    },
  };
}

function schemaOf(group: readonly Documented[]): JsonObject {
  const plain = group.filter(({ error }) => error.details === undefined).map(({ code }) => code);
  const special = group.filter(({ error }) => error.details !== undefined);
  const schemas = [
    ...special.map(({ code, error }) =>
      hasOwnSchema(error)
        ? { $ref: `#/components/schemas/${errorSchemaName(code)}` }
        : publishSchema(errorBodyOf(code, error.details)),
    ),
    ...(plain.length === 0 ? [] : [plainSchema(plain)]),
  ];
  const [first] = schemas;
  return schemas.length === 1 && first !== undefined ? first : { anyOf: schemas };
}

function plainSchema(codes: readonly string[]): JsonObject {
  return {
    allOf: [{ $ref: '#/components/schemas/ErrorBody' }, { properties: { error_code: { enum: codes } } }],
  };
}
