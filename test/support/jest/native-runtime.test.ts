import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** A test in the report of `--json`. */
interface Verdict {
  readonly title: string;
  readonly status: string;
}

const root = join(import.meta.dirname, '../../..');

async function runFixture(): Promise<Record<string, string>> {
  const dir = await mkdtemp(join(tmpdir(), 'auth-account-verdicts-'));
  const outputFile = join(dir, 'report.json');
  const { default: config } = await import(new URL('../../jest.config.js', import.meta.url).href);
  const { testEnvironment, runtime, transform } = config;
  const own = { rootDir: root, testEnvironment, runtime, transform, roots: [import.meta.dirname] };
  const settings = JSON.stringify({ ...own, testMatch: ['**/verdicts.fixture.ts'] });
  const jest = ['node_modules/jest/bin/jest.js', '--config', settings, '--json', '--outputFile', outputFile];
  try {
    await new Promise<void>((resolve) => execFile(process.execPath, jest, { cwd: root }, () => resolve()));
    const { testResults } = JSON.parse(await readFile(outputFile, 'utf8'));
    const verdicts: Verdict[] = testResults[0].assertionResults;
    return Object.fromEntries(verdicts.map(({ title, status }) => [title, status]));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

test('a test fails by an expectation, a hook, a time-out and an unhandled rejection, and only then', async () => {
  expect(await runFixture()).toEqual({
    passes: 'passed',
    'fails by what it expects': 'failed',
    'fails by its own time-out': 'failed',
    'fails by a rejection that nobody handles': 'failed',
    'fails by its hook': 'failed',
    'of a table: 1 is 1': 'passed',
    'of a table: 2 is 1': 'failed',
    'is skipped': 'pending',
  });
});
