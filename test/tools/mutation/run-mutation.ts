import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSharedServers } from '../../support/global-setup.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { provideSeparately } from '../separate-install.ts';
import { type Area, type Choice, chooseParts, type Part } from './area.ts';
import { areas } from './areas.ts';
import { keyOf, mutantsOf, partResult, type Results, resultOf, resultsText, scoreOf } from './results.ts';
import { copyProject } from './run/copy-project.ts';
import { runPart } from './run/run-part.ts';
import type { RunStrykerOptions } from './run/run-stryker.ts';

/**
 * `npm run test:long mutation [-- --only tokens,providers:4]`: measures the mutation score of each area, or of some, or
 * of one part of an area by its number. It works in a copy of the working tree, which it removes at the end. The result
 * of each part goes to `test/tools/mutation/results.json` when it is measured, so that a run may be ended. docs/mutation.md
 * has the sums, and `reports/mutation` Stryker's reports and logs. Exits with 1 if an area is below its aim or a survivor
 * has no reason (`why` in the results).
 */
const everything = areas.map(({ name }) => name).join(',');
const { values } = parseArgs({ options: { only: { type: 'string', default: everything } } });

const root = fileURLToPath(new URL('../../..', import.meta.url));
const resultsFile = join(root, 'test/tools/mutation/results.json');

/** Measures a part, stores its result and writes the page. Returns the survivors without a reason. */
async function measure(area: Area, part: Part, name: string, options: RunStrykerOptions): Promise<string[]> {
  const start = performance.now();
  const reports = await runPart(part, join(root, 'reports/mutation'), name, options);
  const results: Results = JSON.parse(readFileSync(resultsFile, 'utf8'));
  const key = keyOf(area, part);
  const earlier = [results[key], results[area.name]].flatMap((each) => each?.survivors ?? []);
  const measuredOn = new Date().toISOString().slice(0, 10);
  const { unexplained, ...counts } = partResult(reports, earlier);
  const result = { measuredOn, ...counts, unexplained: unexplained.length };
  writeFileSync(resultsFile, resultsText(areas, { ...results, [key]: result }));
  execFileSync(process.execPath, [join(root, 'test/tools/mutation/write-page.ts')], { stdio: 'inherit' });

  const { killed, timedOut } = result;
  const seconds = Math.round((performance.now() - start) / 1_000);
  const outcome = `${killed} of ${mutantsOf(result)} killed, ${timedOut} by time-outs`;
  console.log(`${name}: ${outcome}, in ${seconds} s (${part.sources})`);
  return unexplained.map((survivor) => `survives without a reason: ${JSON.stringify(survivor)}`);
}

/** Measures the parts, with the servers that their tests need, and returns the problems. */
async function measureParts({ area, parts }: Choice, options: RunStrykerOptions): Promise<string[]> {
  const needsServers = [...parts.values()].some(({ tests }) => tests.some((test) => test.startsWith('test/')));
  const servers = needsServers ? await startSharedServers() : undefined;
  const problems: string[] = [];
  try {
    for (const [number, part] of parts) {
      problems.push(...(await measure(area, part, `${area.name}-${number}`, options)));
      measured.push(`${area.name}:${number}`);
    }
  } catch (error) {
    problems.push(`${area.name}: not measured: ${(error as Error).message}`);
  } finally {
    await servers?.stop();
  }
  const result = resultOf(area, JSON.parse(readFileSync(resultsFile, 'utf8')));
  const score = result && scoreOf(result);
  return score !== undefined && score < area.aim
    ? [...problems, `${area.name}: ${score.toFixed(1)} %, below its aim`]
    : problems;
}

const chosen = chooseParts(areas, values.only);
const measured: string[] = [];
const soFar = () => `measured: ${measured.join(', ') || 'nothing'}`;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The handler stays, because npm forwards a signal that its child has already received.
  process.on(signal, () => {
    console.error(`${signal}: ended before its end. Stored and ${soFar()}`);
    process.exit(1);
  });
}

const stryker = provideSeparately(join(root, 'test/tools/mutation/stryker'), '@stryker-mutator/core/bin/stryker.js');
// Its guard ends Stryker and removes the copy, however this process ends.
const copy = await openGuardedFolder('mutation');
const problems: string[] = [];
try {
  copyProject(root, copy.dir);
  for (const choice of chosen) {
    problems.push(...(await measureParts(choice, { root: copy.dir, stryker, env: process.env, guard: copy })));
  }
} finally {
  await copy.close();
}
for (const problem of problems) console.error(problem);
console.log(`${soFar()}; ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
