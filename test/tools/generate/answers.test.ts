import { expect, test } from '@jest/globals';
import { answersIn, rowsOf } from './answers.ts';

const tag = (report: string) => `  // answers: ${report}, https://peer.example/1\n  // A code\n  // was used twice.\n`;
const below = "  test('a code is used once', async () => {});\n";
const answer = { address: 'https://peer.example/1', what: 'A code was used twice.', file: 'a.test.ts' };

test('each tag above a test is an answer, in the order of the reports', () => {
  const each = "test.each([\n  ['1', () => code(1)],\n])(\n  'a code of %s is used once',\n  async () => {},\n);\n";
  const found = answersIn('a.test.ts', `${tag('peer 10')}${tag('peer 9')}${below}\n${tag('ape')}${each}`);
  expect(found).toEqual([
    { ...answer, report: 'peer 10', title: 'a code is used once' },
    { ...answer, report: 'peer 9', title: 'a code is used once' },
    { ...answer, report: 'ape', title: 'a code of %s is used once' },
  ]);
  expect(rowsOf(found).map(([report]) => report?.slice(0, 8))).toEqual(['[ape](ht', '[peer 9]', '[peer 10']);
});

test.each([
  ['has no address', `// answers: peer 1\n// A code was used twice.\n${below}`, 'a.test.ts:2: the tag is not'],
  ['does not say what happened', `// Answers: peer 1, https://peer.example/1\n${below}`, 'the tag is not'],
  ['has no test', `${tag('peer 1')}\n${below}`, 'no test directly below'],
])('a tag that %s is an error', (_, source, message) => {
  expect(() => answersIn('a.test.ts', `\n${source}`)).toThrow(message);
});

test('a report that two tests answer is an error', () => {
  const found = answersIn('a.test.ts', `${tag('peer 1')}${below}${tag('peer 1')}${below}`);
  expect(() => rowsOf(found)).toThrow('another test answers peer 1 too');
});
