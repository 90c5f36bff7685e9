import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { type FileReport, failuresIn, repeatFailed } from '../ci/flaky.ts';
import { namedServers, provideNamedServer, type ServerName } from './named-servers.ts';
import type { OwnOptions } from './store-options.ts';

/** The suites of the stores, of messages over Redis, and the short form of the faults. */
const suites = [
  'libs/stores',
  'libs/redis',
  'libs/messaging',
  'test/integration/stores',
  'test/integration/redis',
  'test/integration/worker/(consumers|dead-letters|delivery|force-logout|queue-capacity|reconcile|relay)',
  'test/tools/faults/faults.system.test.ts',
];

/**
 * Runs the suites on one named store after another, together with the machine's own server of the other kind, and
 * prints a line for each. Failed files are run again, one at a time (`flaky.ts`). A file that can't be loaded counts as
 * one failed test. Returns the exit code, which is 1 if a test failed twice or a run had no tests. `jest`: Jest's program
 * and its options.
 */
export async function testOnStores({ stores, rest }: OwnOptions, jest: readonly string[]): Promise<number> {
  const lines: string[] = [];
  let exitCode = 0;
  for (const store of stores) {
    const { binary, version } = await provideNamedServer(store, console.error);
    const { product, variable } = namedServers[store];
    const env = { [variable]: binary };
    const reports = new Map<string, FileReport>();
    const run = async (...args: string[]) => {
      for (const report of await runJest([...jest, ...args], store, env)) reports.set(report.name, report);
    };
    await run(...chooseSuites(rest));
    const { flaky } = await repeatFailed(failuresIn([...reports.values()]), async (file) => {
      await run('--runTestsByPath', file);
      return reports.get(file);
    });
    const results = [...reports.values()];
    const [passed, failed] = [countTests(results, 'passed'), failuresIn(results).length];
    const skipped = countTests(results, 'pending');
    const counts = `${passed} tests passed, ${failed} failed, ${skipped} skipped`;
    lines.push(`${product} ${version}: ${counts}; ${flaky.length} passed when they were run again`);
    if (passed === 0 || failed > 0) exitCode = 1;
  }
  console.log(lines.join('\n'));
  return exitCode;
}

/** Returns the suites to run. Paths among Jest's arguments replace them. */
function chooseSuites(rest: readonly string[]): readonly string[] {
  return rest.some((each) => !each.startsWith('-') && each.includes('/')) ? rest : [...suites, ...rest];
}

function countTests(results: readonly FileReport[], status: string): number {
  return results.flatMap(({ assertionResults }) => assertionResults.filter((each) => each.status === status)).length;
}

async function runJest(
  args: readonly string[],
  store: ServerName,
  env: Record<string, string>,
): Promise<readonly FileReport[]> {
  const report = `reports/stores-${store}.json`;
  await mkdir('reports', { recursive: true });
  await rm(report, { force: true });
  const child = spawn(process.execPath, [...args, '--json', '--outputFile', report], {
    // With --json Jest prints the results on the standard output too.
    stdio: ['inherit', 'ignore', 'inherit'],
    env: { ...process.env, TIER: 'all', ...env },
  });
  await once(child, 'exit');
  return JSON.parse(await readFile(report, 'utf8')).testResults;
}
