import type { TObject } from 'typebox';

/**
 * The same text for the same request, in whatever order its members came. Only those that the schema names count, which
 * are scalars: a member that is ignored makes no other request, and may be nested deeper than `JSON.stringify` can go.
 */
export function canonicalBody({ properties }: TObject, body: Readonly<Record<string, unknown>>): string {
  const named = Object.keys(properties).filter((name) => Object.hasOwn(body, name));
  return JSON.stringify(Object.fromEntries(named.sort().map((name) => [name, body[name]])));
}
