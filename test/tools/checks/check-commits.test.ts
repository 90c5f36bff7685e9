import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const cwd = temporaryFolder('commits');
const run = (program: string, ...args: string[]) => spawnSync(program, args, { cwd, encoding: 'utf8' });
const commit = (length: number) => {
  const author = ['-c', 'user.name=somebody', '-c', 'user.email=somebody@example.com'];
  run('git', ...author, 'commit', '--quiet', '--allow-empty', '--message', `${'x'.repeat(length)}\n\nbody`);
};
const check = (base: string) => run(process.execPath, join(import.meta.dirname, 'check-commits.ts'), base);

test('a subject may have 72 characters after the base, and any number before it', () => {
  expect(check('HEAD').stdout).toContain('LEFT OUT');
  run('git', 'init', '--quiet');
  commit(99);
  const base = run('git', 'rev-parse', 'HEAD').stdout.trim();
  commit(72);
  expect(check(base)).toMatchObject({ status: 0, stdout: '', stderr: '' });
  commit(73);
  expect(check(base)).toMatchObject({ status: 1, stderr: expect.stringMatching(/x{73}\n/) });
  expect(check('0'.repeat(40))).toMatchObject({ status: 0, stdout: expect.stringContaining('LEFT OUT') });
});
