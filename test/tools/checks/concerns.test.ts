import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { checks } from './checks.ts';
import { checksFor, testsFor } from './concerns.ts';

const root = join(import.meta.dirname, '../../..');
const chart = 'charts/auth-account';

test.each([
  ['chart', [`${chart}/templates/_pod.tpl`, `${chart}/values.yaml`, `${chart}/values.schema.json`]],
  ['chart', [`${chart}/ci/minimal-values.yaml`, `${chart}/tests/pod_test.yaml`, 'test/tools/chart/rules/pod-rules.ts']],
  ['alerts,chart', [`${chart}/rules/auth-account.rules.yaml`]],
  ['alerts', ['services/worker/src/runtime/metrics.ts', 'test/tools/observability/promql.ts']],
  ['', [`${chart}/README.md`, `${chart}/dashboards/api.json`, 'test/tools/generate/dashboards/api.ts']],
  ['', ['services/api/src/usecases/sessions/log-in.ts', 'libs/config/src/load-config.test.ts', 'docs/operations.md']],
  ['github', ['.github/workflows/ci.yml']],
  ['lockfile', ['package-lock.json']],
  ['page-types', ['libs/playground/page/main.tsx', 'libs/page/src/components/form.tsx']],
  ['page-types', ['services/console/page/main.tsx', 'services/console/src/contract/roles.ts']],
])('the checks "%s" run for changes of %j', (names, paths) => {
  for (const path of paths) expect(checksFor(path).join()).toBe(names);
  expect(names.split(',').filter((name) => name !== '' && checks[name] === undefined)).toEqual([]);
});

test('the check of the chart runs for a change of each schema of the configuration that it reads', () => {
  const source = readFileSync(join(root, 'test/tools/chart/component-variables.ts'), 'utf8');
  const imported = [...source.matchAll(/from '(@auth-account\/.+)'/g)].map(([, name = '']) =>
    import.meta.resolve(name),
  );
  const paths = imported.map((url) => relative(root, new URL(url).pathname));
  expect(paths.length).toBeGreaterThan(4);
  expect(paths.filter((path) => !existsSync(join(root, path)) || !checksFor(path).includes('chart'))).toEqual([]);
});

test('the tests with servers of the changed folder, subfolder and feature run, and no others', () => {
  expect(testsFor('services/api/src/usecases/passkeys/passkey-proof.ts')).toContain('test/contract/passkeys.test.ts');
  expect(testsFor('libs/redis/src/index.ts').every((path) => path.startsWith('test/integration/redis/'))).toBe(true);
  expect(testsFor('docs/operations.md')).toEqual([]);
});
