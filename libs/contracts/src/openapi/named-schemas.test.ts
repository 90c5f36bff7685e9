import { expect, test } from '@jest/globals';
import { NameOrNull } from '../http/fields.ts';
import type { Route } from '../http/route.ts';
import { routes } from '../http/routes.ts';
import { publishNamedSchemas, publishSchema } from './publish-schema.ts';

const bodies = Object.entries<Route>(routes).flatMap(([name, { body, success }]) => [
  ...(body === undefined ? [] : [[name, 'request', body] as const]),
  [name, 'answer', success.body] as const,
]);

test.each(bodies)('%s: the document shows the %s under a name of its own', (_, __, schema) => {
  expect(publishSchema(schema)).toEqual({ $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) });
});

test('the document shows no property escapes, and its pattern of names is equivalent except for marks', () => {
  expect(JSON.stringify(publishNamedSchemas())).not.toMatch(/\\\\[pu]\{/);
  const [ours, shown] = [NameOrNull, publishSchema(NameOrNull)].map(
    (schema) => new RegExp((schema as { pattern: string }).pattern, 'u'),
  );
  const text = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code));
  const known = text.filter((character) => !/[\p{Cs}\p{M}]/u.test(character));
  const names = known.flatMap((character) => ['', 'a', ' '].map((before) => before + character));
  const differing = names.filter((name) => ours?.test(name) !== shown?.test(name));
  expect(differing.map((name) => JSON.stringify(name))).toEqual([]);
});
