import { expect, test } from '@jest/globals';
import type { Route } from '../http/route.ts';
import { routes } from '../http/routes.ts';
import { publishSchema } from './publish-schema.ts';

const bodies = Object.entries<Route>(routes).flatMap(([name, { body, success }]) => [
  ...(body === undefined ? [] : [[name, 'request', body] as const]),
  [name, 'answer', success.body] as const,
]);

test.each(bodies)('%s: the document shows the %s under a name of its own', (_, __, schema) => {
  expect(publishSchema(schema)).toEqual({ $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) });
});
