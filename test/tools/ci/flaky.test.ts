import { describe, expect, test } from '@jest/globals';
import { type Failure, type FileReport, failuresIn, repeatFailed } from './flaky.ts';

const passing = { fullName: 'a test passes', status: 'passed', failureMessages: [] };
const failing = { fullName: 'a test fails', status: 'failed', failureMessages: ['expected 1'] };

function report(name: string, status: string, assertionResults: FileReport['assertionResults']): FileReport {
  return { name, status, message: '', assertionResults };
}

const failureIn = (file: string): Failure => ({ file, title: 'a test fails', message: 'expected 1' });

describe('failures', () => {
  test('each failed test is listed with its file', () => {
    const files = [report('a', 'passed', [passing]), report('b', 'failed', [passing, failing, failing])];
    expect(failuresIn(files)).toEqual([failureIn('b'), failureIn('b')]);
  });

  test('a file that could not be loaded is one failure', () => {
    const broken = { ...report('a', 'failed', []), message: 'no such module' };
    expect(failuresIn([broken])).toEqual([{ file: 'a', title: 'the file as a whole', message: 'no such module' }]);
  });

  test('a file whose tests passed, but which left something open, is one failure', () => {
    const left = { ...report('a', 'failed', [passing]), message: 'the file leaves open: 1 ProcessWrap' };
    expect(failuresIn([left])).toMatchObject([{ file: 'a', message: left.message }]);
  });
});

describe('repetition of failed files', () => {
  test('a file that passes alone is flaky, and one that fails again has failed', async () => {
    const repeated: string[] = [];
    const outcome = await repeatFailed([failureIn('a'), failureIn('a'), failureIn('b')], async (file) => {
      repeated.push(file);
      return report(file, file === 'a' ? 'passed' : 'failed', []);
    });
    expect(repeated).toEqual(['a', 'b']);
    expect(outcome).toEqual({ failed: [failureIn('b')], flaky: [failureIn('a'), failureIn('a')] });
  });

  test('a file without a second report has failed', async () => {
    const outcome = await repeatFailed([failureIn('a')], async () => undefined);
    expect(outcome).toEqual({ failed: [failureIn('a')], flaky: [] });
  });

  test('no file is repeated if more than twenty have failed', async () => {
    const failures = Array.from({ length: 21 }, (_, at) => failureIn(`file-${at}`));
    const outcome = await repeatFailed(failures, () => {
      throw new Error('it was repeated');
    });
    expect(outcome).toEqual({ failed: failures, flaky: [] });
  });
});
