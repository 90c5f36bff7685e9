import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'auth-account-ci-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

/** Counts of the stand-ins: what passes in each tier, and what fails of the system, the checks and the cluster. */
interface Failing {
  readonly system?: boolean;
  readonly checks?: number;
  readonly cluster?: number;
}

/** Runs the program with stand-ins for npm and the cluster test, which write down what they do. */
function runCi({ system = false, checks = 0, cluster = 0 }: Failing) {
  const script = (path: string, text: string) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), `#!/bin/bash\n${text}`, { mode: 0o755 });
  };
  const result = { name: `${cwd}/a.system.test.ts`, message: '', assertionResults: [] };
  const jest = (status: string) => JSON.stringify({ numPassedTests: 5, testResults: [{ ...result, status }] });
  script(
    'bin/npm',
    `while [ $# -gt 0 ]; do
       case $1 in test:system) tier=system ;; check) tier=checks ;; --outputFile | --output) file=$2 ;; esac; shift
     done
     echo "\${tier:=change} begins" >> log
     case $tier in
       checks) echo 'output of the checks'; echo '{"passed":7,"failed":${checks}}' > "$file" ;;
       system) until grep -q 'cluster installs' log; do sleep 0.05; done; echo '${jest(system ? 'failed' : 'passed')}' > "$file" ;;
       change) echo '${jest('passed')}' > "$file" ;;
     esac
     echo "$tier ends" >> log; exit ${checks}`,
  );
  script(
    'test/tools/cluster/run-in-ci.sh',
    `echo 'cluster installs' >> log; until [ -e "$3" ]; do sleep 0.05; done
     echo 'cluster loads' >> log; echo '{"passed":3,"failed":${cluster}}' > "$1"`,
  );
  const env = { ...process.env, PATH: `${cwd}/bin:${process.env.PATH}`, CI_WITHOUT_SYSTEM: '' };
  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'run-ci.ts')], {
    ...{ cwd, env, encoding: 'utf8', timeout: 100_000 },
  });
  const order = readFileSync(join(cwd, 'log'), 'utf8').trim().split('\n');
  return { status, stdout, order, last: stdout.trim().split('\n').at(-1) };
}

test('the cluster test begins after the checks, beside the tests of the system, and loads when these have ended', () => {
  const { status, stdout, order, last } = runCi({});
  const at = (event: string) => order.indexOf(event);
  expect([at('checks ends'), at('cluster installs'), at('system ends'), at('cluster loads')]).not.toContain(-1);
  expect(at('cluster installs')).toBeGreaterThan(at('checks ends'));
  expect(at('cluster installs')).toBeLessThan(at('system ends'));
  expect(at('cluster loads')).toBeGreaterThan(at('system ends'));
  expect(stdout).toContain('== checks\noutput of the checks');
  expect([status, last]).toEqual([0, '20 passed, 0 failed']);
});

test.each([
  ['a system test', { system: true }, '20 passed, 1 failed'],
  ['a check', { checks: 1 }, '20 passed, 1 failed'],
  ['the cluster test', { cluster: 2 }, '20 passed, 2 failed'],
])('the run fails if %s fails', (_, failing, last) => {
  expect(runCi(failing)).toMatchObject({ status: 1, last });
});
