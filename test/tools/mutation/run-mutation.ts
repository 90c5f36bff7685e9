import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSharedServers } from '../../support/global-setup.ts';
import { createProcessGuard, type ProcessGuard } from '../../support/processes/create-process-guard.ts';
import { installSeparately } from '../separate-install.ts';
import type { Area } from './area.ts';
import { areas } from './areas.ts';
import { areaResult, type Results, resultsText, scoreOf } from './results.ts';
import { copyProject } from './run/copy-project.ts';
import { runArea } from './run/run-area.ts';

/**
 * `npm run test:long mutation [-- --only NAMES --incremental]`: measures the mutation score of each area, or of the
 * areas in NAMES (separated by commas). It works in a copy of the working tree, which it removes at the end.
 * `--incremental` reuses the last run's results for mutants whose source and tests have not changed. That is fast, but
 * misses changes elsewhere. Results go to `test/tools/mutation/results.json` and docs/mutation.md, and Stryker's
 * reports and logs to `reports/mutation`. Exits with 1 if an area is below its aim or a survivor has no reason (`why`
 * in the results).
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: areas.map(({ name }) => name).join(',') },
    incremental: { type: 'boolean', default: false },
  },
});

const root = fileURLToPath(new URL('../../..', import.meta.url));
const resultsFile = join(root, 'test/tools/mutation/results.json');

function chosenAreas(): Area[] {
  return values.only.split(',').map((name) => {
    const area = areas.find((one) => one.name === name);
    if (area === undefined) throw new Error(`There is no area ${name}: ${areas.map((one) => one.name).join(', ')}`);
    return area;
  });
}

/** Returns the path of Stryker, which has a separate install that is created if it is missing. */
function provideStryker(): string {
  const directory = join(root, 'test/tools/mutation/stryker');
  const program = join(directory, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  if (!existsSync(program)) {
    console.log('Installing Stryker into test/tools/mutation/stryker');
    installSeparately(directory);
  }
  return program;
}

/** Starts servers for all mutants of the area, if its tests need them, as the tests' global set-up would. */
async function withServers<T>(area: Area, work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
  const { stop } = area.needsServers ? await startSharedServers() : { stop: undefined };
  return work(process.env).finally(stop);
}

function readResults(): Results {
  return existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {};
}

/** Measures the area, stores the result, and returns the problems. */
async function measure(area: Area, copy: string, stryker: string, guard: ProcessGuard): Promise<string[]> {
  const output = join(root, 'reports/mutation');
  const force = !values.incremental;
  const reports = await withServers(area, (env) =>
    runArea(area, { root: copy, stryker, output, env, force, guard, log: console.log }),
  );
  const earlier = readResults();
  const result = areaResult(reports, earlier[area.name]?.survivors);
  const measuredOn = new Date().toISOString().slice(0, 10);
  const all = { ...earlier, [area.name]: { measuredOn, ...result } };
  const inOrder = Object.fromEntries(areas.flatMap(({ name }) => (all[name] ? [[name, all[name]]] : [])));
  writeFileSync(resultsFile, resultsText(inOrder));

  const score = scoreOf(result);
  const { killed, survivors, timedOut } = result;
  console.log(`${area.name}: ${score.toFixed(1)} % of ${killed + survivors.length} killed, ${timedOut} by time-outs`);
  return [
    ...(score < area.aim ? [`${area.name}: the score is below ${area.aim} %`] : []),
    ...survivors
      .filter(({ why }) => why === undefined)
      .map(({ file, in: line, from, to }) => `${file}: ${line}: ${from} → ${to}: survives without a reason`),
  ];
}

const chosen = chosenAreas();
const measured: string[] = [];
const soFar = () =>
  `${measured.length} of ${chosen.length} areas measured${measured.length > 0 ? `: ${measured.join(', ')}` : ''}`;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The handler stays, because npm forwards a signal that its child has already received.
  process.on(signal, () => {
    console.error(`${signal}: ended before its end, with ${soFar()}. Their results are kept.`);
    process.exit(1);
  });
}

const stryker = provideStryker();
const copy = mkdtempSync(join(tmpdir(), 'auth-account-mutation-'));
// The guard ends Stryker and removes the copy, however this process ends.
const guard = createProcessGuard(copy);
const problems: string[] = [];
try {
  copyProject(root, copy);
  for (const area of chosen) {
    console.log(`${area.name}: ${area.parts.length} parts, logs in reports/mutation`);
    try {
      problems.push(...(await measure(area, copy, stryker, guard)));
      measured.push(area.name);
    } catch (error) {
      problems.push(`${area.name}: not measured: ${(error as Error).message}`);
    }
  }
} finally {
  await rm(copy, { recursive: true, force: true });
  guard.dismiss();
}
execFileSync(process.execPath, [join(root, 'test/tools/mutation/write-page.ts')], { stdio: 'inherit' });
for (const problem of problems) console.error(problem);
console.log(`${soFar()}; ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
