import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Runs every `check:*` script of the root package.json, one after the other, all of them whatever the ones before say.
 * One line each with its seconds, and the output of those that fail or say that they were left out. Exits with 1 where any failed.
 * `--output FILE` also writes `{ "passed": …, "failed": … }`. A check that is made of several writes the same to the file that
 * `CHECK_REPORT` names, and counts as so many.
 */

/** How the output of a check begins that could not be made here, and is no failure. */
const LEFT_OUT = 'LEFT OUT';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Count {
  passed: number;
  failed: number;
}

interface Outcome {
  readonly ok: boolean;
  readonly count: Count;
  readonly seconds: string;
  readonly output: string;
}

/** What a script counts as: one, where it has written nothing else. Where it failed it is one failure at least. */
function countOf(ok: boolean, report: string): Count {
  const own: Count | undefined = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  return own && ok === (own.failed === 0) ? own : { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

function runScript(script: string, report: string): Promise<Outcome> {
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const env = { ...process.env, CHECK_REPORT: report };
  execFile('npm', ['run', '--silent', script], { cwd: ROOT, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    const ok = error === null;
    resolve({ ok, count: countOf(ok, report), seconds, output: `${stdout}${stderr}`.trimEnd() });
  });
  return promise;
}

const { values } = parseArgs({ options: { output: { type: 'string' } } });
const manifest: { scripts: Record<string, string> } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
const scripts = Object.keys(manifest.scripts).filter((script) => script.startsWith('check:'));
const total: Count = { passed: 0, failed: 0 };
const folder = mkdtempSync(join(tmpdir(), 'auth-account-checks-'));

for (const script of scripts) {
  const { ok, count, seconds, output } = await runScript(script, join(folder, script.replace(':', '-')));
  total.passed += count.passed;
  total.failed += count.failed;
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${script.padEnd(20)}  ${seconds.padStart(5)} s`);
  if (!ok || output.startsWith(LEFT_OUT)) console.log(`${output.replace(/^/gm, '      ')}\n`);
}

rmSync(folder, { recursive: true });
if (values.output) {
  mkdirSync(dirname(values.output), { recursive: true });
  writeFileSync(values.output, JSON.stringify(total));
}
process.exitCode = total.failed > 0 || scripts.length === 0 ? 1 : 0;
