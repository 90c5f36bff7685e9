import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { namedServers, provideNamedServer, type ServerName } from './named-servers.ts';
import { recordRun } from './recorded-runs.ts';
import type { StoreOptions } from './store-options.ts';

/** The suites of the stores, of messages over Redis, and the short form of the faults. */
const suites = [
  'libs/stores',
  'libs/redis',
  'libs/messaging',
  'test/integration/stores',
  'test/integration/redis',
  'test/integration/worker/(consumers|dead-letters|delivery|force-logout|queue-room|reconcile|relay)',
  'test/tools/faults/faults.system.test.ts',
];

interface FileResult {
  /** The path of the test file. */
  readonly name: string;
  /** `skipped` if all of the file's tests were skipped, and `focused` if only some were. */
  readonly status: 'passed' | 'failed' | 'skipped' | 'focused';
  readonly assertionResults: readonly { readonly status: string }[];
}

export interface TestOnStores extends StoreOptions {
  /** Jest's program and its options. */
  readonly jest: readonly string[];
}

/**
 * Runs the suites on one named store after another, together with the machine's own server of the other kind, and
 * prints a line for each. Failed files are run again, one at a time, because on a busy machine a test may reach its
 * time limit. A file that can't be loaded counts as one failed test. Returns the exit code, which is 1 if a test failed
 * twice or a run had no tests. Throws if only a part of the suites is to be recorded.
 */
export async function testOnStores({ stores, isRecorded, jest, rest }: TestOnStores): Promise<number> {
  if (isRecorded && rest.length > 0) throw new Error('--record notes whole runs: leave out what goes to Jest.');
  const lines: string[] = [];
  let exitCode = 0;
  for (const store of stores) {
    const { binary, version } = await provideNamedServer(store, { log: console.error });
    const { product, variable } = namedServers[store];
    const env = { [variable]: binary };
    const first = await runJest([...jest, ...chooseSuites(rest)], store, env);
    const again = first.filter(({ status }) => status === 'failed').map(({ name }) => name);
    const second =
      again.length > 0 ? await runJest([...jest, '--runInBand', '--runTestsByPath', ...again], store, env) : [];
    const results = [...first.filter(({ status }) => status !== 'failed'), ...second];
    const passed = countTests(results, 'passed');
    const unloaded = results.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    );
    const failed = countTests(results, 'failed') + unloaded.length;
    const skipped = countTests(results, 'pending');
    const counts = `${passed} tests passed, ${failed} failed, ${skipped} skipped`;
    lines.push(`${product} ${version}: ${counts}; ${again.length} files were run twice`);
    if (passed === 0 || results.some(({ status }) => status === 'failed')) exitCode = 1;
    if (isRecorded) await recordRun({ store, product, version, passed, failed, skipped });
  }
  console.log(lines.join('\n'));
  return exitCode;
}

const namesPaths = (rest: readonly string[]) => rest.some((each) => !each.startsWith('-') && each.includes('/'));

/** Returns the suites to run. Paths among Jest's arguments replace them. */
function chooseSuites(rest: readonly string[]): readonly string[] {
  return namesPaths(rest) ? rest : [...suites, ...rest];
}

function countTests(results: readonly FileResult[], status: string): number {
  return results.flatMap(({ assertionResults }) => assertionResults.filter((each) => each.status === status)).length;
}

async function runJest(
  args: readonly string[],
  store: ServerName,
  env: Record<string, string>,
): Promise<readonly FileResult[]> {
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
