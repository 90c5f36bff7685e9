import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withFolder } from '../with-folder.ts';
import { checks, onRequest } from './checks.ts';

/**
 * `npm run check`: runs all checks, two at a time, even after a failure. Prints a line for each check with its
 * seconds, and the output of checks that failed or were left out. Exits with 1 if any failed. `npm run check NAME` runs
 * one check and shows all of its output. `npm run check changed` runs what a change concerns.
 *
 * `--output FILE` also writes `{ "passed": …, "failed": … }`. A check that consists of several checks writes the same
 * to the file that `CHECK_REPORT` names, and counts as that many.
 */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const byName = { ...checks, ...onRequest };

/** Checks that begin first, because they take longest. */
const longest = ['alerts', 'chart'];

/** The first words of the output of a check that could not run here, which is not a failure. */
const LEFT_OUT = 'LEFT OUT';

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

/**
 * Returns the counts of a check, which are one unless it has reported others. A failed check counts as at least one
 * failure.
 */
function countOf(ok: boolean, report: string): Count {
  const own: Count | undefined = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  return own && ok === (own.failed === 0) ? own : { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

function commandOf(name: string): { readonly file: string; readonly args: string[]; readonly env: NodeJS.ProcessEnv } {
  const words = byName[name] ?? [];
  const at = words.findIndex((word) => !word.includes('='));
  const [program = '', ...args] = words.slice(at);
  const variables = Object.fromEntries(words.slice(0, at).map((word) => word.split('=')));
  const file = program === 'node' ? process.execPath : join(ROOT, 'node_modules/.bin', program);
  return { file, args, env: { ...process.env, ...variables } };
}

function runCheck(name: string, report: string): Promise<Outcome> {
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const { file, args, env } = commandOf(name);
  execFile(
    file,
    args,
    { cwd: ROOT, env: { ...env, CHECK_REPORT: report }, maxBuffer: 2 ** 26 },
    (error, stdout, stderr) => {
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      const ok = error === null;
      resolve({ ok, count: countOf(ok, report), seconds, output: `${stdout}${stderr}`.trimEnd() });
    },
  );
  return promise;
}

function print(name: string, { ok, seconds, output }: Outcome): void {
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(14)}  ${seconds.padStart(5)} s`);
  if (!ok || output.startsWith(LEFT_OUT)) console.log(`${output.replace(/^/gm, '      ')}\n`);
}

/** Number of checks that run at the same time. Most of them use one core. */
const lanes = Math.min(2, availableParallelism());

async function runAll(folder: string): Promise<Count> {
  const total: Count = { passed: 0, failed: 0 };
  const left = Object.keys(checks).toSorted((a, b) => Number(longest.includes(b)) - Number(longest.includes(a)));

  async function runNext(): Promise<void> {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const outcome = await runCheck(name, join(folder, name));
      total.passed += outcome.count.passed;
      total.failed += outcome.count.failed;
      print(name, outcome);
    }
  }
  await Promise.all(Array.from({ length: lanes }, runNext));
  return total;
}

function runOne(name: string): Count {
  if (byName[name] === undefined) {
    console.error(`There is no check "${name}"; there are ${Object.keys(byName).join(', ')}.`);
    return { passed: 0, failed: 1 };
  }
  const { file, args, env } = commandOf(name);
  const ok = spawnSync(file, args, { cwd: ROOT, env, stdio: 'inherit' }).status === 0;
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

const { values, positionals } = parseArgs({
  options: { output: { type: 'string' } },
  allowPositionals: true,
});
const counts = positionals.length > 0 ? positionals.map(runOne) : [await withFolder('checks', runAll)];
const total = counts.reduce((sum, { passed, failed }) => ({
  passed: sum.passed + passed,
  failed: sum.failed + failed,
}));
if (values.output) {
  mkdirSync(dirname(values.output), { recursive: true });
  writeFileSync(values.output, JSON.stringify(total));
}
process.exitCode = total.failed > 0 ? 1 : 0;
