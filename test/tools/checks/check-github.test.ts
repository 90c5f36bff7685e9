import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder('github');

test('an action without its commit, a workflow without permissions, and an unreadable file are reported', () => {
  mkdirSync(join(root, '.github/workflows'), { recursive: true });
  const steps = 'jobs: { one: { runs-on: ubuntu-24.04, steps: [{ uses: actions/checkout@v7 }] } }\n';
  writeFileSync(join(root, '.github/workflows/ci.yml'), `on: push\n${steps}`);
  writeFileSync(join(root, '.github/renovate.json'), '{');
  const script = join(import.meta.dirname, 'check-github.ts');
  // There is no actionlint, so its part is left out.
  const env = { PATH: '', CHART_CACHE_DIR: root };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, root], { env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^LEFT OUT: /);
  expect(stderr).toContain('.github/workflows/ci.yml: names no permissions');
  expect(stderr).toContain('.github/workflows/ci.yml: actions/checkout@v7 is not pinned by its commit');
  expect(stderr).toContain('.github/renovate.json: SyntaxError');
});
