import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { findServiceMetrics, type ServiceMetrics } from '../generate/service-metrics.ts';
import { withFolder } from '../with-folder.ts';
import { findHiddenMetrics } from './find-rule-faults.ts';
import { findPromtool } from './provide-prometheus.ts';
import { type Rule, readAlerts, readRules, rulesFolder } from './rule-file.ts';

/**
 * `npm run check alerts`: checks that each metric is in a dashboard or an alert. promtool checks the rules, runs their
 * unit tests, and lints the metrics of each service. promtool comes from the PATH, or from Debian's package if root may
 * install it. Without promtool it prints a message and does not fail.
 */

const rules = fileURLToPath(rulesFolder);
const testFiles = readdirSync(`${rules}tests`);

function run(promtool: string, args: readonly string[]): boolean {
  const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: rules, encoding: 'utf8' });
  console.log(`${stdout}${stderr}`.trimEnd());
  return status === 0;
}

interface TestFile {
  readonly group_eval_order?: readonly string[];
  readonly tests: readonly object[];
}

/** Returns the groups without the rules that the test neither names nor reaches through those it names. */
function groupsFor(test: object) {
  const { groups } = readRules();
  const all = groups.flatMap(({ rules }) => rules);
  const nameOf = ({ record, alert = record }: Rule) => alert ?? '';
  const used = new Set<Rule>();
  const use = (text: string): void => {
    const words = new Set(text.match(/[\w:]+/g));
    for (const rule of all.filter((each) => words.has(nameOf(each)) && !used.has(each))) {
      used.add(rule);
      use(rule.expr);
    }
  };
  use(JSON.stringify(test));
  if (used.size === 0) throw new Error(`a test names no rule: ${JSON.stringify(test)}`);
  const kept = groups.map(({ rules, ...group }) => ({ ...group, rules: rules.filter((rule) => used.has(rule)) }));
  return kept.filter(({ rules }) => rules.length > 0);
}

/**
 * Returns true if the rules' unit tests pass. Each is run by promtool with the rules that it is about: with all of them
 * promtool takes ten times as long.
 */
function testRules(promtool: string): Promise<boolean> {
  return withFolder('rules', (folder) => {
    const files = testFiles.flatMap((name) => {
      const parsed: TestFile = parse(readFileSync(`${rules}tests/${name}`, 'utf8'));
      const { tests, group_eval_order: order, ...file } = parsed;
      return tests.map((test, index) => {
        const groups = groupsFor(test);
        const group_eval_order = order?.filter((each) => groups.some((group) => group.name === each));
        const path = join(folder, `${name.replace('.yaml', '')}-${index + 1}.yaml`);
        writeFileSync(`${path}.rules`, stringify({ groups }));
        writeFileSync(path, stringify({ ...file, rule_files: [`${path}.rules`], group_eval_order, tests: [test] }));
        return path;
      });
    });
    return run(promtool, ['test', 'rules', ...files]);
  });
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

/** Returns true if each alert has a test of its end, because an outage that is over must not wake anybody. */
function isEachEndTested(): boolean {
  const tested = testFiles.map((name) => readFileSync(`${rules}tests/${name}`, 'utf8')).join('');
  const alerts = readAlerts().map(({ alert }) => alert);
  const untested = alerts.filter((name) => !tested.includes(`count_over_time(ALERTS{alertname="${name}"`));
  if (untested.length > 0) console.log(`No test of the end: ${untested.join(', ')}`);
  return alerts.length > 0 && untested.length === 0;
}

const services = await findServiceMetrics();
const hidden = findHiddenMetrics(services);
if (hidden.length > 0) console.log(`In no dashboard and no alert: ${hidden.join(', ')}`);
process.exitCode = isEachEndTested() && hidden.length === 0 ? 0 : 1;
const promtool = await findPromtool('LEFT OUT: the alerts were not tested.');
if (promtool !== undefined) {
  const areRight = run(promtool, ['check', 'rules', 'auth-account.rules.yaml']);
  const doFire = await testRules(promtool);
  const areWellNamed = lintMetrics(promtool, services);
  if (!areRight || !doFire || !areWellNamed) process.exitCode = 1;
}
