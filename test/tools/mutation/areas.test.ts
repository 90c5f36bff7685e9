import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { chooseParts } from './area.ts';
import { areas } from './areas.ts';
import { keyOf } from './results.ts';

const root = join(import.meta.dirname, '../../..');

/** Expands a pattern with `{a,b}` into the patterns that it stands for. */
function alternatives(pattern: string): string[] {
  const [whole, inside = ''] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (whole === undefined) return [pattern];
  return inside.split(',').flatMap((one) => alternatives(pattern.replace(whole, one)));
}

test('every source and every test that an area names exists: Stryker passes over what is missing', () => {
  const patterns = areas.flatMap(({ parts }) => parts.flatMap(({ sources, tests }) => [sources, ...tests]));
  expect(patterns.flatMap(alternatives).filter((pattern) => globSync(pattern, { cwd: root }).length === 0)).toEqual([]);
});

test('each part of an area has sources of its own, by which its result is found', () => {
  const sources = areas.flatMap((area) => area.parts.map((part) => keyOf(area, part)));
  expect(new Set(sources).size).toBe(sources.length);
});

test('areas are measured as a whole or in one part, and a part that does not exist is refused', () => {
  const [whole, one] = chooseParts(areas, 'outbox,providers:4');
  expect(whole).toMatchObject({ area: { name: 'outbox' }, parts: { size: 9 } });
  expect([one?.area.name, ...(one?.parts.keys() ?? [])]).toEqual(['providers', 4]);
  expect(one?.parts.get(4)?.sources).toContain('log-in-by-provider');
  expect(() => chooseParts(areas, 'outbox,nothing')).toThrow('no area nothing');
  for (const part of ['providers:0', 'providers:5', 'providers:']) {
    expect(() => chooseParts(areas, part)).toThrow(`no part ${part}: providers has 4`);
  }
});
