import { describe, expect, test } from '@jest/globals';
import type { Area } from '../areas.ts';
import { areaResult, scoreOf } from './area-result.ts';
import { type Explanation, findReason, staleExplanations } from './explain.ts';
import { mutationPage } from './mutation-page.ts';
import type { ReportedMutant, StrykerReport } from './stryker-report.ts';

const source = 'export function isOld(age: number) {\n  return age > limit || never;\n}\n';

function mutant(status: ReportedMutant['status'], replacement = 'age >= limit'): ReportedMutant {
  const [start, end] = [
    { line: 2, column: 10 },
    { line: 2, column: 21 },
  ];
  return { mutatorName: 'EqualityOperator', status, replacement, location: { start, end } };
}

const report = (...mutants: ReportedMutant[]): StrykerReport => ({ files: { 'src/age.ts': { source, mutants } } });
const survivor = {
  file: 'src/age.ts',
  line: 2,
  in: 'return age > limit || never;',
  from: 'age > limit',
  to: 'age >= limit',
  isUncovered: false,
};

describe('the result of an area', () => {
  test('counts as killed what failed or took too long, and leaves out what could not be run', () => {
    const result = areaResult([
      report(mutant('Killed'), mutant('Timeout'), mutant('RuntimeError')),
      report(mutant('Survived'), mutant('NoCoverage', '')),
    ]);
    expect(result).toEqual({
      killed: 2,
      timedOut: 1,
      invalid: 1,
      survivors: [survivor, { ...survivor, to: '', isUncovered: true }],
    });
    expect(scoreOf(result)).toBe(50);
  });

  test('shows what was replaced on one line, however long', () => {
    const location = { start: { line: 1, column: 36 }, end: { line: 3, column: 2 } };
    const [{ in: line, from, to } = survivor] = areaResult([
      report({ ...mutant('Survived', `{${'x '.repeat(99)}}`), location }),
    ]).survivors;
    expect([line, from]).toEqual(['export function isOld(age: number) {', '{ return age > limit || never; }']);
    expect([to.length, to.at(-1)]).toEqual([90, '…']);
  });
});

describe('an explanation', () => {
  const why = 'Nobody is that old.';
  const explanation: Explanation = { file: survivor.file, why, mutants: [[survivor.in, survivor.from, survivor.to]] };

  test('follows its mutant to another line, and fits no other', () => {
    expect(findReason({ ...survivor, line: 99 }, [explanation])).toBe(why);
    for (const other of [{ file: 'src/other.ts' }, { in: 'return' }, { from: 'age' }, { to: 'age' }]) {
      expect(findReason({ ...survivor, ...other }, [explanation])).toBeUndefined();
    }
  });

  test('that fits nothing any more is told', () => {
    expect(staleExplanations([survivor], [explanation])).toEqual([]);
    expect(staleExplanations([], [explanation])).toEqual([
      'src/age.ts: return age > limit || never;: age > limit → age >= limit: is explained and did not survive',
    ]);
  });
});

test('the page has a row for each area, and a line for each survivor with its reason or the lack of one', () => {
  const areas: Area[] = ['ages', 'names'].map((name) => ({
    name,
    covers: name,
    parts: [],
    needsServers: false,
    aim: 90,
  }));
  const odd = { ...survivor, from: '`a` | b' };
  const results = { ages: { killed: 3, timedOut: 1, invalid: 2, survivors: [odd], measuredOn: '2026-11-21' } };
  const page = mutationPage(areas, results, []);
  expect(page).toContain('| ages | ages | 4 | 3 | 1 | 1 | 75.0 % | 90 % | 2 | 2026-11-21 |');
  expect(page).toContain('| names | names | not measured | | | | | 90 % | | |');
  expect(page).toContain('| src/age.ts:2 | `` `a` \\| b `` → `age >= limit` | Not explained. |');
  expect(page).not.toContain('### names');
  const explained = [{ file: odd.file, why: 'So be it.', mutants: [[odd.in, odd.from, odd.to]] }] as const;
  expect(mutationPage(areas, results, explained)).toContain('| So be it. |');
});
