import type { DocumentedError, DocumentedErrors } from './documented-error.ts';
import { type ErrorAnswer, errorSchemaName, refTo, unionKey } from './error-schemas.ts';
import type { Json, JsonObject } from './publish-schema.ts';
import { headersOf, headersOfAll } from './response-headers.ts';

/**
 * Returns the error responses of an operation, by status: the codes, their occasions, the reactions, headers and
 * examples. `names` has the schema names of the answers with several codes.
 */
export function errorResponses(
  { operationId, codes }: { readonly operationId: string; readonly codes: readonly string[] },
  { errors, names }: ErrorParts,
): JsonObject {
  return Object.fromEntries(
    errorAnswers(operationId, codes, errors).map((answer) => {
      const group = answer.codes.map((code) => ({ code, error: errorOf(code, errors) }));
      const name = names.get(unionKey(answer)) ?? errorSchemaName(String(group[0]?.code), group[0]?.error.details);
      return [String(answer.status), responseOf(answer.status, group, { $ref: refTo(name) })];
    }),
  );
}

interface ErrorParts {
  readonly errors: DocumentedErrors;
  readonly names: ReadonlyMap<string, string>;
}

/** Returns the errors that an operation can return, by status. Throws if the catalogue lacks a code or its example. */
export function errorAnswers(operationId: string, codes: readonly string[], errors: DocumentedErrors): ErrorAnswer[] {
  const all = codes.flatMap((code) => {
    const error = errorOf(code, errors);
    return error.statuses.map((status) => {
      if (!error.examples.some((example) => example.status === status))
        throw new Error(`no example of ${code} ${status}`);
      return { code, status };
    });
  });
  const byStatus = [...Map.groupBy(all, ({ status }) => status)].sort(([a], [b]) => a - b);
  return byStatus.map(([status, group]) => ({ operationId, status, codes: group.map(({ code }) => code) }));
}

function errorOf(code: string, errors: DocumentedErrors): DocumentedError {
  const error = errors[code];
  if (error === undefined) throw new Error(`the error catalogue has no ${code}`);
  return error;
}

interface Documented {
  readonly code: string;
  readonly error: DocumentedError;
}

function responseOf(status: number, group: readonly Documented[], schema: JsonObject): JsonObject {
  const examples = group.flatMap(({ error }) => error.examples.filter((example) => example.status === status));
  const names = new Set([...headersOfAll, ...examples.flatMap(({ headers }) => Object.keys(headers))]);
  const isAlways = (name: string) => headersOfAll.includes(name) || examples.every(({ headers }) => name in headers);
  return {
    description: group.map(({ code, error }) => `- \`${code}\`: ${error.meaning} ${error.advice}`).join('\n'),
    headers: headersOf(names, isAlways),
    content: {
      'application/json': {
        schema,
        examples: Object.fromEntries(examples.map(({ name, body }) => [name, { value: body as Json }])),
      },
    },
  };
}
