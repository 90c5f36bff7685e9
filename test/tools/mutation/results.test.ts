import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Area } from './area.ts';
import {
  areaResult,
  mutationPage,
  type ReportedMutant,
  type Results,
  resultsText,
  type StrykerReport,
  scoreOf,
} from './results.ts';

const source = 'export function isOld(age: number) {\n  return age > limit || never;\n}\n';

function mutant(status: ReportedMutant['status'], replacement = 'age >= limit'): ReportedMutant {
  return { status, replacement, location: { start: { line: 2, column: 10 }, end: { line: 2, column: 21 } } };
}

const report = (...mutants: ReportedMutant[]): StrykerReport => ({ files: { 'src/age.ts': { source, mutants } } });
const survivor = { file: 'src/age.ts', in: 'return age > limit || never;', from: 'age > limit', to: 'age >= limit' };

describe('results of areas', () => {
  test('the result of an area counts failures and time-outs as killed, and leaves out what could not be run', () => {
    const result = areaResult([
      report(mutant('Killed'), mutant('Timeout'), mutant('RuntimeError')),
      report({ ...mutant('Killed'), statusReason: 'Error: Exceeded timeout of 60000 ms for a hook.' }),
      report({ ...mutant('Survived'), testsCompleted: 7 }, mutant('NoCoverage', '')),
      report({ ...mutant('Survived'), testsCompleted: 0 }),
    ]);
    expect(result).toEqual({ killed: 3, timedOut: 2, invalid: 2, survivors: [survivor, { ...survivor, to: '' }] });
    expect(scoreOf(result)).toBe(60);
  });

  test('the result of an area shows what was replaced on one line, however long', () => {
    const location = { start: { line: 1, column: 36 }, end: { line: 3, column: 2 } };
    const [{ in: line, from, to } = survivor] = areaResult([
      report({ ...mutant('Survived', `{${'x '.repeat(99)}}`), location }),
    ]).survivors;
    expect([line, from]).toEqual(['export function isOld(age: number) {', '{ return age > limit || never; }']);
    expect([to.length, to.at(-1)]).toEqual([90, '…']);
  });

  test('the result of an area keeps the reason of a survivor on another line, and gives it to no other', () => {
    const why = 'Nobody is that old.';
    const moved = { 'src/age.ts': { source: `\n${source}`, mutants: [mutant('Survived')] } };
    moved['src/age.ts'].mutants[0] = { ...mutant('Survived'), location: { start: at(10), end: at(21) } };
    expect(areaResult([{ files: moved }], [{ ...survivor, why }]).survivors).toEqual([{ ...survivor, why }]);
    for (const other of [{ file: 'src/other.ts' }, { in: 'return' }, { from: 'age' }, { to: 'age' }]) {
      expect(areaResult([{ files: moved }], [{ ...survivor, ...other, why }]).survivors).toEqual([survivor]);
    }
  });
});

const at = (column: number) => ({ line: 3, column });

test('results are read back as they were written, with a line for each survivor', () => {
  const text = readFileSync(new URL('results.json', import.meta.url), 'utf8');
  expect(resultsText(JSON.parse(text))).toBe(text);
});

test('the page has a row for each area, with the number of unexplained survivors', () => {
  const area = (name: string): Area => ({ name, covers: 'all', parts: [], needsServers: false, aim: 90 });
  const survivors = [survivor, { ...survivor, why: 'So be it.' }];
  const results: Results = { ages: { killed: 3, timedOut: 1, invalid: 2, survivors, measuredOn: '2026-11-21' } };
  const page = mutationPage([area('ages'), area('names')], results);
  expect(page).toContain('| ages: all | 5 | 60.0 (aim 90) | 1 | 2026-11-21 |');
  expect(page).toContain('| names: all | not measured | | | |');
});
