import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Tests that start services, by the changed path. `$1` is the first group of the pattern. */
const concerned: readonly (readonly [changed: RegExp, ...tests: string[]])[] = [
  [/^(test\/.+\.test\.ts)$/, '$1'],
  [
    /^libs\/contracts\/src\/http\/|^test\/support\/api\/good-requests/,
    'test/contract/openapi*',
    'test/tools/conformance/*',
  ],
  [/^libs\/contracts\/src\/(?:events|push)\//, 'test/contract/asyncapi*'],
  [/^libs\/(stores|redis|verifier|client)\//, 'test/integration/$1/*'],
  [/^libs\/messaging\//, 'test/integration/redis/*', 'test/integration/worker/{delivery,relay}*'],
  [/^(?:libs\/tokens|services\/api\/src\/security)\//, 'test/integration/api/*key*', 'test/security/forged-tokens*'],
  [/^libs\/client\//, 'test/e2e/client-*'],
  [/^services\/(worker|authctl)\//, 'test/integration/$1/*'],
  [/^libs\/operations\//, 'test/integration/authctl/*'],
  [/^services\/push-gateway\//, 'test/integration/gateway/*'],
  [/^services\/api\/src\/audit\//, 'test/integration/api/{audit-log,metrics}*'],
  [/^services\/api\/src\/limits\//, 'test/integration/api/{limits,rate-limit}*'],
  [/^services\/api\/src\/(?:http|request|compose)\b/, 'test/contract/{openapi,requests}*'],
  [/^services\/api\/src\/(?:usecases|compose)\b/, 'test/integration/{api/statements,stores/queries}*'],
];

/**
 * Checks that only some changes concern, by the changed path. That of the chart reads the chart, whose README and
 * dashboards cannot break it, and the schemas of the configuration.
 */
const special: readonly (readonly [check: string, ...changed: RegExp[]])[] = [
  ['alerts', /(?:metrics|audit-row)\.ts$/, /^charts\/auth-account\/rules\//, /^test\/tools\/observability\//],
  [
    'chart',
    /^charts\/auth-account\/(?!README\.md$|dashboards\/)/,
    /^test\/tools\/(?:chart\/|observability\/provide-prometheus)/,
    /^services\/(?:.+\/)?(?:probe-)?config\.ts$|^libs\/(?:config\/.+(?<!\.test)\.ts|stores\/.+\/mongo-checks\.ts)$/,
  ],
  ['github', /^\.(?:github|devcontainer)\//],
  ['lockfile', /^package-lock\.json$/],
  ['page-types', /^(?:libs\/playground|services\/console)\/page\/|^libs\/page\/|^services\/console\/src\/contract\//],
];

/** Returns the checks, besides those of all changes, that a changed path concerns. */
export function checksFor(path: string): string[] {
  return special.flatMap(([check, ...forms]) => (forms.some((form) => form.test(path)) ? [check] : []));
}

/** Matches paths that contain the word by which a feature's tests are named. */
const featureForm = /^(?:services\/api\/src\/usecases|libs\/contracts\/src\/http)\//;

/** Returns the tests with servers that a changed path concerns. Throws if the table names a test that is not there. */
export function testsFor(path: string): string[] {
  const chosen = concerned.flatMap(([form, ...tests]) => {
    const found = form.exec(path);
    return found === null ? [] : tests.map((test) => test.replace('$1', found[1] ?? ''));
  });
  const words = featureForm.test(path) ? [basename(path, '.ts').replace(/-routes$/, ''), basename(dirname(path))] : [];
  return [...chosen, ...words.map((word) => `test/{contract,integration/*}/${word}*`)].flatMap((glob) => {
    const tests = globSync(glob.endsWith('.ts') ? glob : `${glob}.test.ts`);
    if (tests.length === 0 && chosen.includes(glob)) throw new Error(`There are no tests ${glob}.`);
    return tests;
  });
}
