import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { area } from './area.ts';
import { areas } from './areas.ts';
import {
  keyOf,
  mutationPage,
  partResult,
  type ReportedMutant,
  type Results,
  resultOf,
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
const explained = { ...survivor, why: 'So be it.' };

describe('results of parts', () => {
  test('the result of a part counts failures and time-outs as killed, and leaves out what could not be run', () => {
    const result = partResult([
      report(mutant('Killed'), mutant('Timeout'), mutant('RuntimeError')),
      report({ ...mutant('Killed'), statusReason: 'Error: Exceeded timeout of 60000 ms for a hook.' }),
      report({ ...mutant('Survived'), testsCompleted: 7 }, mutant('NoCoverage', '')),
      report({ ...mutant('Survived'), testsCompleted: 0 }),
    ]);
    const unexplained = [survivor, { ...survivor, to: '' }];
    expect(result).toEqual({ killed: 3, timedOut: 2, invalid: 2, unexplained, survivors: [] });
    expect(scoreOf({ ...result, unexplained: 2 })).toBe(60);
  });

  test('the result of a part shows what was replaced on one line, however long', () => {
    const location = { start: { line: 1, column: 36 }, end: { line: 3, column: 2 } };
    const [{ in: line, from, to } = survivor] = partResult([
      report({ ...mutant('Survived', `{${'x '.repeat(99)}}`), location }),
    ]).unexplained;
    expect([line, from]).toEqual(['export function isOld(age: number) {', '{ return age > limit || never; }']);
    expect([to.length, to.at(-1)]).toEqual([90, '…']);
  });

  test('the result of a part keeps the reason of a survivor on another line, and gives it to no other', () => {
    const why = 'Nobody is that old.';
    const moved = { 'src/age.ts': { source: `\n${source}`, mutants: [mutant('Survived')] } };
    moved['src/age.ts'].mutants[0] = { ...mutant('Survived'), location: { start: at(10), end: at(21) } };
    const explained = partResult([{ files: moved }], [{ ...survivor, why }]);
    expect([explained.survivors, explained.unexplained]).toEqual([[{ ...survivor, why }], []]);
    for (const other of [{ file: 'src/other.ts' }, { in: 'return' }, { from: 'age' }, { to: 'age' }]) {
      expect(partResult([{ files: moved }], [{ ...survivor, ...other, why }]).unexplained).toEqual([survivor]);
    }
  });
});

const at = (column: number) => ({ line: 3, column });

test('results are read back as they were written, with a line for each explained survivor', () => {
  const text = readFileSync(new URL('results.json', import.meta.url), 'utf8');
  expect(resultsText(areas, JSON.parse(text))).toBe(text);
});

test('an area is what was measured as a whole until each part has a result, and then the sum of its parts', () => {
  const ages = area('ages', 90, 'all', ['old.ts'], ['young.ts']);
  const result = (killed: number, measuredOn: string) => ({
    killed,
    timedOut: 1,
    invalid: 0,
    unexplained: 2,
    survivors: [explained],
    measuredOn,
  });
  const [old = '', young = ''] = ages.parts.map((part) => keyOf(ages, part));
  const begun: Results = {
    ages: result(9, '2026-11-20'),
    [young]: result(2, '2026-11-22'),
    gone: result(1, '2026-11-20'),
  };
  expect(resultOf(ages, begun)).toEqual(begun.ages);
  expect(Object.keys(JSON.parse(resultsText([ages], begun)))).toEqual(['ages', young]);
  const complete: Results = { ...begun, [old]: result(3, '2026-11-23') };
  const sum = { killed: 5, timedOut: 2, invalid: 0, unexplained: 4, measuredOn: '2026-11-22' };
  expect(resultOf(ages, complete)).toEqual({ ...sum, survivors: [explained, explained] });
  expect(Object.keys(JSON.parse(resultsText([ages], complete)))).toEqual([old, young]);
});

test('the page has a row for each area, with the number of unexplained survivors', () => {
  const ofAll = (name: string) => area(name, 90, 'all', [`${name}.ts`]);
  const counts = { killed: 3, timedOut: 1, invalid: 2, unexplained: 1, survivors: [explained] };
  const results: Results = { ages: { ...counts, measuredOn: '2026-11-21' } };
  const page = mutationPage([ofAll('ages'), ofAll('names')], results);
  expect(page).toContain('| ages: all | 5 | 60.0 (aim 90) | 1 | 2026-11-21 |');
  expect(page).toContain('| names: all | not measured | | | |');
});
