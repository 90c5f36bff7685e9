import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { withFolder } from '../with-folder.ts';
import { scoreExceptions } from './kube-score-exceptions.ts';
import { isOfKind, parseManifests } from './manifest.ts';
import { environmentRules } from './rules/environment-rules.ts';
import { keyRules } from './rules/key-rules.ts';
import { podRules } from './rules/pod-rules.ts';
import { releaseRules } from './rules/release-rules.ts';
import { selectorRules } from './rules/selector-rules.ts';
import { type Ran, run } from './run.ts';
import { kubernetesVersion } from './schemas/provide-schemas.ts';
import { chartFolder, type RefusedSet, type ValueSet } from './value-sets.ts';

/** The result of a check; `problem` is undefined if the check passed. */
export interface Finding {
  readonly check: string;
  readonly problem: string | undefined;
}

/** Programs of the checks. */
export const chartTools = ['helm', 'helm-unittest', 'kubeconform'] as const;

interface CheckDependencies {
  readonly tools: Readonly<Record<(typeof chartTools)[number], string>>;
  /** Path of kube-score; undefined if it is not wanted. */
  readonly kubeScore: string | undefined;
  /** Folder with the schemas for kubeconform. */
  readonly schemas: string;
  /** Path of promtool; undefined if it is not available. */
  readonly promtool: string | undefined;
}

/** We set only a request of CPU (ADR 0006). Limits of memory are still required. */
const scoring = ['score', '--output-format', 'ci', '--ignore-container-cpu-limit'];
const release = ['auth-account', chartFolder, '--namespace', 'auth'];
/** Kinds of other projects' objects, in `extraObjects`, for which we have no schema. */
const kindsOfOthers = 'BackendTrafficPolicy,ClientTrafficPolicy';

function problemOf({ isRight, output }: Ran): string | undefined {
  return isRight ? undefined : output;
}

/** Returns what kube-score finds in the objects of a set of values. */
async function score(kubeScore: string, rendered: string, set: ValueSet): Promise<Finding> {
  const exceptions = scoreExceptions.filter((one) => one.set === undefined || one.set === set.name);
  const ignored = exceptions.flatMap(({ test }) => ['--ignore-test', test]);
  const { isRight, output } = await run(kubeScore, [...scoring, ...ignored, rendered]);
  return { check: 'kube-score', problem: isRight ? undefined : criticalsIn(output) };
}

/** Returns the checks of the chart. Each returns its findings. */
export function createChartChecks({ tools, kubeScore, schemas, promtool }: CheckDependencies) {
  const render = (...args: string[]) =>
    run(tools.helm, ['template', ...release, '--kube-version', kubernetesVersion, ...args]);

  const lint = ({ file }: ValueSet) =>
    run(tools.helm, ['lint', '--strict', chartFolder, '--kube-version', kubernetesVersion, '--values', file]);

  const validate = (rendered: string) => {
    const location = `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    const args = ['-strict', '-summary', '-skip', kindsOfOthers, '-schema-location', location, rendered];
    return run(tools.kubeconform, args);
  };

  const checkAlerts = async (manifests: ReturnType<typeof parseManifests>, folder: string): Promise<Finding[]> => {
    const rule = manifests.find(isOfKind('PrometheusRule'));
    if (!rule || promtool === undefined) return [];
    const file = join(folder, 'rules.yaml');
    await writeFile(file, stringify(rule.spec));
    return [{ check: 'promtool', problem: problemOf(await run(promtool, ['check', 'rules', file])) }];
  };

  return {
    /** Lints and renders a set of values, and checks the result. */
    checkSet: (set: ValueSet) =>
      withFolder('chart', async (folder): Promise<Finding[]> => {
        const [linting, rendering] = await Promise.all([lint(set), render('--values', set.file)]);
        const linted = { check: 'lint', problem: problemOf(linting) };
        const rendered = { check: 'template', problem: problemOf(rendering) };
        if (!rendering.isRight) return [linted, rendered];
        const file = join(folder, 'rendered.yaml');
        await writeFile(file, rendering.stdout);
        const manifests = parseManifests(rendering.stdout);
        if (manifests.length === 0) return [linted, rendered];
        const validated = await validate(file);
        return [
          linted,
          rendered,
          { check: 'kubeconform', problem: problemOf(validated) },
          ...(kubeScore === undefined ? [] : [await score(kubeScore, file, set)]),
          { check: 'rules', problem: checkRules(manifests) },
          ...(await checkAlerts(manifests, folder)),
        ];
      }),

    /** Renders a set of values that must be refused. */
    checkRefused: ({ title, values, message }: RefusedSet, minimal: ValueSet) =>
      withFolder('chart', async (folder): Promise<Finding> => {
        const file = join(folder, 'values.yaml');
        await writeFile(file, stringify(values));
        const { isRight, output } = await render('--values', minimal.file, '--values', file);
        const check = `refuses ${title}`;
        if (isRight) return { check, problem: 'it was rendered' };
        return { check, problem: message.test(output) ? undefined : `the message does not say ${message}:\n${output}` };
      }),

    /** Runs the suites of helm-unittest. */
    checkSuites: async (): Promise<Finding> => {
      const args = ['--strict', '--file', 'tests/**/*_test.yaml', chartFolder];
      const { isRight, output } = await run(tools['helm-unittest'], args);
      const ran = Number(/^Tests:.*?(\d+) total/m.exec(output)?.[1] ?? 0);
      if (isRight && ran === 0) return { check: 'helm-unittest', problem: `no test ran:\n${output}` };
      return { check: `helm-unittest, ${ran} tests`, problem: isRight ? undefined : output };
    },
  };
}

/** Returns the critical findings from kube-score's machine-readable output. */
function criticalsIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.startsWith('[CRITICAL]'));
  return lines.length > 0 ? lines.join('\n') : output;
}

/** Rules for the result of every set of values, in addition to the checks by other tools. */
export const allRules = [...podRules, ...environmentRules, ...keyRules, ...selectorRules, ...releaseRules];

function checkRules(manifests: ReturnType<typeof parseManifests>): string | undefined {
  const problems = allRules.flatMap(({ title, find }) => find(manifests).map((found) => `${title}: ${found}`));
  return problems.length > 0 ? problems.join('\n') : undefined;
}
