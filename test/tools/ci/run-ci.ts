import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Failure, type FileReport, failuresIn, repeatFailed } from './flaky.ts';

/**
 * `.ci/run`: the tests of both tiers, the checks and, if there is a Kubernetes cluster, the short form of the test on
 * it. At the end each test file that failed runs once more, alone. If it passes, its failed tests are flaky: they are
 * listed here and in reports/flaky.json, and fail nothing. The last line is "N passed, N failed". Exits with 1 if
 * something failed or no test ran.
 *
 * The checks run beside the tests of the system, which wait for a quarter of their time. Then the cluster test begins
 * with its images and its installation. It goes on after the tests of the system, because its load must have the
 * machine for itself.
 */

/** Jest's report, as far as it is needed. */
interface JestReport {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly FileReport[];
}

interface Count {
  readonly passed: number;
  readonly failed: number;
}

const tiers = { change: ['test'], system: ['run', 'test:system'] } as const;
type Tier = keyof typeof tiers;

/** Set by the GitHub workflow, in which the tests of the system are a job of their own. */
const isWithoutSystem = process.env.CI_WITHOUT_SYSTEM === '1';

const reports = 'reports';
/** A file that is created when the tests of the system have ended. */
const systemEnded = `${reports}/system-ended`;
const lines: string[] = [];
const logs: { readonly title: string; readonly file: string }[] = [];

/**
 * Runs a command to its end, at most for so many seconds. Returns its exit code. With a `log`, the output goes there, so
 * that it does not mix with that of a command beside it.
 */
async function run(title: string, seconds: number, command: readonly string[], log?: string): Promise<number> {
  console.log(`\n== ${title}: ${command.join(' ')}`);
  const begun = performance.now();
  const output = log === undefined ? 'inherit' : openSync(log, 'w');
  const child = spawn('timeout', ['--kill-after=20', String(seconds), ...command], {
    stdio: ['ignore', output, output],
  });
  const [code] = await once(child, 'exit');
  if (log !== undefined) logs.push({ title, file: log });
  lines.push(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(5)} s  ${title}`);
  return code ?? 1;
}

function read<T>(file: string): T | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Returns Jest's report of these files; undefined if Jest wrote none. */
async function runTests(title: string, tier: Tier, ...args: string[]): Promise<JestReport | undefined> {
  const file = `${reports}/${title.replaceAll(/\W+/g, '-')}.json`;
  rmSync(file, { force: true });
  // What a failed test leaves open must not keep the run from its end; the environment of each file reports it.
  await run(title, 2_400, ['npm', ...tiers[tier], '--', '--forceExit', '--json', '--outputFile', file, ...args]);
  return read<JestReport>(file);
}

/** Returns the counts of a command that writes them to `file`. One that writes nothing counts by its exit code. */
function countOf(file: string, code: number): Count {
  const count = read<Count>(file) ?? { passed: 0, failed: 0 };
  return code !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
}

async function runChecks(): Promise<Count> {
  const file = `${reports}/checks.json`;
  const command = ['nice', '-n', '19', 'npm', 'run', 'check', '--', '--output', file];
  return countOf(file, await run('checks', 900, command, `${reports}/checks.log`));
}

async function runCluster(): Promise<Count> {
  const file = `${reports}/cluster.json`;
  const command = ['test/tools/cluster/run-in-ci.sh', file, '--after', systemEnded];
  return countOf(file, await run('cluster', 4_200, command, `${reports}/cluster.log`));
}

const named = ({ file, title }: Failure) => `${file.replace(`${process.cwd()}/`, '')}: ${title}`;

async function runAll(): Promise<void> {
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports);
  const results: Partial<Record<Tier, JestReport | undefined>> = {
    change: await runTests('tests', 'change', '--costs'),
  };
  const besideSystem = runChecks().then(async (checks) => [checks, await runCluster()]);
  if (!isWithoutSystem) results.system = await runTests('system tests', 'system', '--costs');
  writeFileSync(systemEnded, '');
  const counts = await besideSystem;
  for (const { title, file } of logs) console.log(`\n== ${title}\n${readFileSync(file, 'utf8')}`);

  const failed: Failure[] = [];
  const flaky: Failure[] = [];
  for (const tier of Object.keys(results) as Tier[]) {
    const failures = failuresIn(results[tier]?.testResults ?? []);
    const repeat = async (file: string) =>
      (await runTests(`once more ${file}`, tier, '--runTestsByPath', file))?.testResults[0];
    const outcome = await repeatFailed(failures, repeat);
    failed.push(...outcome.failed);
    flaky.push(...outcome.flaky);
    if (results[tier] === undefined) failed.push({ file: reports, title: `no report of ${tier}`, message: '' });
  }
  writeFileSync(`${reports}/flaky.json`, `${JSON.stringify(flaky, null, 2)}\n`);

  console.log(`\n${lines.join('\n')}\n`);
  for (const failure of failed) console.log(`failed: ${named(failure)}: ${failure.message.slice(0, 600)}`);
  for (const failure of flaky) console.log(`flaky: ${named(failure)}`);
  const ran = Object.values(results).map((result) => result?.numPassedTests ?? 0);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const passed = sum([...ran, flaky.length, ...counts.map((count) => count.passed)]);
  const failures = sum([failed.length, ...counts.map((count) => count.failed)]);
  process.exitCode = failures > 0 || sum(ran) === 0 ? 1 : 0;
  const skipped = sum(Object.values(results).map((result) => result?.numPendingTests ?? 0));
  console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
}

await runAll();
