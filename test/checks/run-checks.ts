import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Runs every `check:*` script of the root package.json, one after the other, all of them whatever the ones before say.
 * One line each with its seconds, and the output of those that fail or say that they were left out. Exits with 1 where any failed.
 * `--output FILE` also writes `{ "passed": …, "failed": … }`.
 */

/** How the output of a check begins that could not be made here, and is no failure. */
const LEFT_OUT = 'LEFT OUT';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Outcome {
  readonly ok: boolean;
  readonly seconds: string;
  readonly output: string;
}

function runScript(script: string): Promise<Outcome> {
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  execFile('npm', ['run', '--silent', script], { cwd: ROOT, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    resolve({ ok: error === null, seconds, output: `${stdout}${stderr}`.trimEnd() });
  });
  return promise;
}

const { values } = parseArgs({ options: { output: { type: 'string' } } });
const manifest: { scripts: Record<string, string> } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
const scripts = Object.keys(manifest.scripts).filter((script) => script.startsWith('check:'));
const count = { passed: 0, failed: 0 };

for (const script of scripts) {
  const { ok, seconds, output } = await runScript(script);
  count[ok ? 'passed' : 'failed'] += 1;
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${script.padEnd(20)}  ${seconds.padStart(5)} s`);
  if (!ok || output.startsWith(LEFT_OUT)) console.log(`${output.replace(/^/gm, '      ')}\n`);
}

if (values.output) {
  mkdirSync(dirname(values.output), { recursive: true });
  writeFileSync(values.output, JSON.stringify(count));
}
process.exitCode = count.failed > 0 || scripts.length === 0 ? 1 : 0;
