import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { areas } from './areas.ts';

const root = join(import.meta.dirname, '../../..');

/** Expands a pattern with `{a,b}` into the patterns that it stands for. */
function alternatives(pattern: string): string[] {
  const [whole, inside = ''] = /\{([^}]*)\}/.exec(pattern) ?? [];
  if (whole === undefined) return [pattern];
  return inside.split(',').flatMap((one) => alternatives(pattern.replace(whole, one)));
}

test('every source and every test that an area names exists: Stryker passes over what is missing', () => {
  const patterns = areas.flatMap(({ parts }) => parts.flatMap(({ sources, tests }) => [...sources, ...tests]));
  expect(patterns.flatMap(alternatives).filter((pattern) => globSync(pattern, { cwd: root }).length === 0)).toEqual([]);
});
