import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The folder of a project that is not installed, with a copy of the scripts. */
const copy = temporaryFolder('scripts');
cpSync('k8s', join(copy, 'k8s'), { recursive: true });

/** Runs a script with tools that record their calls. */
function run(script: string, args: readonly string[], root = copy) {
  const called = join(copy, 'called');
  writeFileSync(called, '');
  for (const tool of ['kubectl', 'buildah'])
    writeFileSync(join(copy, tool), `#!/bin/sh\necho "${tool} $*" >> '${called}'\nexit 1\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${copy}:${process.env.PATH}` };
  const { status, stderr } = spawnSync(join(root, script), args, { encoding: 'utf8', env });
  const calls = readFileSync(called, 'utf8').trim().split('\n').filter(Boolean);
  return { status, stderr, calls };
}

describe.each([
  ['k8s/dev/secrets.sh', ['auth-dev']],
  ['k8s/images/build.sh', ['registry.example.com', 'dev']],
])('the script %s', (script, args) => {
  test('a script says what to run first if the project is not installed, and does nothing', () => {
    const { status, stderr, calls } = run(script, args);
    expect([status, calls]).toEqual([1, []]);
    expect(stderr).toContain(`run 'npm ci' in ${copy} first`);
  });
});

test('secrets.sh ends at its first error', () => {
  const { status, calls } = run('k8s/dev/secrets.sh', ['auth-dev'], process.cwd());
  expect(status).toBe(1);
  expect(calls).toEqual(['kubectl get namespace auth-dev --ignore-not-found --output name']);
});
