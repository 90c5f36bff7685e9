import { STATUS_CODES } from 'node:http';
import { type DetailTypes, errorBodyOf } from '../http/error-body.ts';
import type { DocumentedErrors } from './documented-error.ts';
import { type JsonObject, publishSchema } from './publish-schema.ts';

/** An error answer of an operation: its status, and the codes that its body can have. */
export interface ErrorAnswer {
  readonly operationId: string;
  readonly status: number;
  readonly codes: readonly string[];
}

/** Returns the name of the schema of a code's body, such as `RateLimitedErrorBody`. */
export function errorSchemaName(code: string, details?: DetailTypes): string {
  if (details === 'validation-items') return 'ValidationErrorBody';
  const words = code.replace(/^ERR-/, '').toLowerCase().split(/[-_]/);
  return `${words.map(capitalized).join('')}ErrorBody`;
}

/** Returns the schema of each code's body, by name, with the code's reaction and retry for programs. */
export function codeSchemas(codes: ReadonlySet<string>, errors: DocumentedErrors): JsonObject {
  const used = Object.entries(errors).filter(([code]) => codes.has(code));
  return Object.fromEntries(
    used
      .filter(([, { details }]) => details !== 'validation-items')
      .map(([code, { details, reaction, retry }]) => [
        errorSchemaName(code, details),
        { ...publishSchema(errorBodyOf(code, details)), 'x-reaction': reaction, 'x-retry': retry },
      ]),
  );
}

/**
 * Returns names for the unions, which are the answers with several codes, so that generated clients need not invent
 * names. The union that most operations share is named after its status (`UnauthorizedErrorBody`). Any other begins
 * with its operation's name (`LogInForbiddenErrorBody`).
 */
export function unionNames(answers: readonly ErrorAnswer[]): ReadonlyMap<string, string> {
  const unions = Map.groupBy(
    answers.filter(({ codes }) => codes.length > 1),
    unionKey,
  );
  const bySharing = [...unions].sort(([, a], [, b]) => b.length - a.length);
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [key, [first, ...others]] of bySharing) {
    if (first === undefined) continue;
    const phrase = String(STATUS_CODES[first.status]).replaceAll(' ', '');
    const shared = `${phrase}ErrorBody`;
    const name = others.length > 0 && !taken.has(shared) ? shared : `${capitalized(first.operationId)}${shared}`;
    taken.add(name);
    names.set(key, name);
  }
  return names;
}

export function unionKey({ status, codes }: Pick<ErrorAnswer, 'status' | 'codes'>): string {
  return [status, ...[...codes].sort()].join(' ');
}

/** Returns the schema of a union. The error code decides which of the bodies applies. */
export function unionSchema(codes: readonly string[], errors: DocumentedErrors): JsonObject {
  const mapping = Object.fromEntries(codes.map((code) => [code, refTo(errorSchemaName(code, errors[code]?.details))]));
  return {
    oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
    discriminator: { propertyName: 'error_code', mapping },
  };
}

export function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
