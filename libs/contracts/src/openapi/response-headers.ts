import { Locale } from '../http/fields.ts';
import type { JsonObject } from './publish-schema.ts';

const text: JsonObject = { type: 'string' };

/** Response headers that the document describes, under `components.headers`. */
export const responseHeaders = {
  'X-Request-ID': {
    description: 'The identifier of the request, or a generated one if the request has none or a malformed one.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  'X-Error-Code': {
    description: 'The canonical code of the error catalogue that the error stands for, if it stands for one.',
    schema: text,
  },
  'Content-Language': {
    description: 'The language of `message` and `details.action`.',
    schema: { type: 'string', enum: Locale.enum },
  },
  Vary: { description: '`Accept-Language`: the texts depend on it.', schema: text },
  'Retry-After': { description: 'Seconds until a retry makes sense.', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'The challenge of RFC 6750.', schema: { type: 'string', pattern: '^Bearer' } },
  'Cache-Control': {
    description: '`no-store`, except for the successes that may be cached.',
    required: true,
    schema: text,
  },
  'Idempotency-Replayed': {
    description: '`true`: the answer is that of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  Allow: { description: 'The methods that the path has.', schema: text },
} as const satisfies Record<string, JsonObject>;

type HeaderName = keyof typeof responseHeaders;

const isOfAll = (name: string) => name in responseHeaders && 'required' in responseHeaders[name as HeaderName];

/** Headers of every answer, successes and errors. */
export const headersOfAll: readonly string[] = Object.keys(responseHeaders).filter(isOfAll);

/**
 * Returns references to the headers with these names. `always` returns true for a header that every answer of the
 * status has.
 */
export function headersOf(names: Iterable<string>, always: (name: string) => boolean): JsonObject {
  const known = [...names].filter((name) => name in responseHeaders);
  return Object.fromEntries(known.map((name) => [name, headerOf(name as HeaderName, always(name))]));
}

/** Returns a reference, or the full header if only this answer requires it, because a reference can't be marked. */
function headerOf(name: HeaderName, isRequired: boolean): JsonObject {
  return isRequired && !isOfAll(name)
    ? { ...responseHeaders[name], required: true }
    : { $ref: `#/components/headers/${name}` };
}
