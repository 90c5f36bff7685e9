import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ProvisionError } from '@auth-account/local-stack';
import { findServiceMetrics, type ServiceMetrics } from '../generate/service-metrics.ts';
import { findHiddenMetrics } from './find-hidden-metrics.ts';
import { providePrometheusBinary } from './provide-prometheus.ts';
import { rulesFolder } from './rule-file.ts';

/**
 * `npm run check alerts`: checks that each metric is in a dashboard or an alert. promtool checks the rules, runs their
 * unit tests, and lints the metrics of each service. promtool comes from the PATH, or from Debian's package if root may
 * install it. Without promtool it prints a message and does not fail.
 */

const rules = fileURLToPath(rulesFolder);
const tests = readdirSync(`${rules}tests`).map((file) => `tests/${file}`);

function run(promtool: string, args: readonly string[]): boolean {
  const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: rules, encoding: 'utf8' });
  console.log(`${stdout}${stderr}`.trimEnd());
  return status === 0;
}

/** Returns true if promtool finds no fault in any service's metrics. */
function lintMetrics(promtool: string, services: readonly ServiceMetrics[]): boolean {
  let isSilent = true;
  for (const { job, metrics, text } of services) {
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
    const said = `${stdout}${stderr}`.trimEnd();
    isSilent &&= status === 0 && said === '';
    console.log(`Metrics of ${job}: ${metrics.length}, ${said === '' ? 'nothing to say' : `\n${said}`}`);
  }
  return isSilent;
}

async function findPromtool(): Promise<string | undefined> {
  try {
    return await providePrometheusBinary('promtool', { log: () => undefined });
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    console.log(`LEFT OUT: the alerts were not tested.\n${error.message}`);
    return undefined;
  }
}

/** Returns true if each alert has a test of its end, because an outage that is over must not wake anybody. */
function isEachEndTested(): boolean {
  const text = (file: string) => readFileSync(`${rules}${file}`, 'utf8');
  const tested = tests.map(text).join('');
  const alerts = [...text('auth-account.rules.yaml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const untested = alerts.filter((name) => !tested.includes(`count_over_time(ALERTS{alertname="${name}"`));
  if (untested.length > 0) console.log(`No test of the end: ${untested.join(', ')}`);
  return alerts.length > 0 && untested.length === 0;
}

const services = await findServiceMetrics();
const hidden = findHiddenMetrics(services);
if (hidden.length > 0) console.log(`In no dashboard and no alert: ${hidden.join(', ')}`);
process.exitCode = isEachEndTested() && hidden.length === 0 ? 0 : 1;
const promtool = await findPromtool();
if (promtool !== undefined) {
  const areRight = run(promtool, ['check', 'rules', 'auth-account.rules.yaml']);
  const doFire = run(promtool, ['test', 'rules', ...tests]);
  const areWellNamed = lintMetrics(promtool, services);
  if (!areRight || !doFire || !areWellNamed) process.exitCode = 1;
}
