import { writeFileSync } from 'node:fs';
import { findPromtool } from '../observability/provide-prometheus.ts';
import { chartTools, createChartChecks, type Finding } from './chart-checks.ts';
import { provideTools, ToolError } from './provide-tools.ts';
import { provideSchemas } from './schemas/provide-schemas.ts';
import { findValueSets, refusedSets } from './value-sets.ts';

/**
 * `npm run check chart`: renders the chart with every set of values in its folder `ci`, and checks the result with helm
 * lint, kubeconform (with the schemas of Kubernetes and of the custom resources), our own rules (`rules/`) and promtool.
 * Then it checks the sets that must be refused, and runs the suites of helm-unittest. Each check of each set counts as
 * one. If `CHECK_REPORT` names a file, it writes `{ "passed": …, "failed": … }` there. If it has neither the programs nor
 * Go to build them, it prints a message and does not fail. With `--score` (`npm run test:long chart`) kube-score checks
 * each set too: building it takes longer than all other checks together.
 */

const count = { passed: 0, failed: 0 };

function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1_000).toFixed(1).padStart(5)} s`;
}

/** Runs the checks of a set, and prints a line for it, and its problems if there are any. */
async function report(title: string, find: () => Promise<readonly Finding[]>): Promise<void> {
  const start = performance.now();
  const findings = await find();
  const failures = findings.filter(({ problem }) => problem !== undefined);
  count.failed += failures.length;
  count.passed += findings.length - failures.length;
  const checks = findings.map(({ check, problem }) =>
    problem === undefined ? check : `${check.toUpperCase()} FAILED`,
  );
  console.log(
    `${failures.length === 0 ? 'ok  ' : 'FAIL'} ${title.padEnd(22)} ${secondsSince(start)}  ${checks.join(', ')}`,
  );
  for (const { check, problem } of failures) console.log(`${check}:\n${problem}`.replace(/^/gm, '       '));
}

async function checkChart(): Promise<void> {
  const begin = performance.now();
  const tools = await provideTools(chartTools, console.log);
  const score = process.argv.includes('--score') ? await provideTools(['kube-score'], console.log) : undefined;
  const schemas = await provideSchemas(console.log);
  const checks = createChartChecks({
    tools,
    kubeScore: score?.['kube-score'],
    schemas,
    promtool: await findPromtool('The PrometheusRules are not checked.'),
  });
  console.log(`helm: ${tools.helm}; ready after ${secondsSince(begin).trim()}`);

  const sets = findValueSets();
  for (const set of sets) await report(set.name, () => checks.checkSet(set));
  const minimal = sets.find(({ name }) => name === 'minimal');
  if (sets.length < 10 || !minimal)
    throw new Error('The folder ci has not ten sets of values with one called "minimal".');
  for (const refused of refusedSets) await report('', async () => [await checks.checkRefused(refused, minimal)]);
  await report('suites', async () => [await checks.checkSuites()]);
  console.log(`${count.passed} passed, ${count.failed} failed in ${secondsSince(begin).trim()}`);
  if (process.env.CHECK_REPORT) writeFileSync(process.env.CHECK_REPORT, JSON.stringify(count));
  process.exitCode = count.failed > 0 ? 1 : 0;
}

try {
  await checkChart();
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  console.log(`LEFT OUT: the chart was not checked.\n${error.message}`);
}
