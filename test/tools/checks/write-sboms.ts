import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Writes a CycloneDX SBOM for each service, `reports/sbom/<service>.cdx.json`, with the packages that the service needs
 * to run, as installed here. It is npm's own SBOM, narrowed to the service. `--omit dev` is not used, because npm 11.19
 * then leaves out packages that a development dependency needs too, such as mongodb. Throws if an SBOM is not as
 * expected.
 */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly unknown[];
}

interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function askNpm(workspace: string): Sbom {
  const wanted = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--workspace', workspace];
  const text = execFileSync('npm', ['sbom', ...wanted], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(text);
}

/**
 * Returns true for runtime dependencies. Only a workspace has others, because npm installs no others for other
 * packages.
 */
function isNeeded(from: string, to: string): boolean {
  const [, name] = /^@auth-account\/([^@]+)@/.exec(from) ?? [];
  if (name === undefined) return true;
  const folder = ['libs', 'services'].find((each) => existsSync(`${ROOT}${each}/${name}/package.json`));
  const { devDependencies = {} }: Manifest = JSON.parse(readFileSync(`${ROOT}${folder}/${name}/package.json`, 'utf8'));
  return !Object.keys(devDependencies).some((dev) => to.startsWith(`${dev}@`));
}

/**
 * Makes the service the root of the SBOM, in place of the project, and keeps only the packages that the service
 * reaches.
 */
function narrow(sbom: Sbom, { name, version }: Manifest): Sbom {
  const own = sbom.components.find(({ purl }) => purl === `pkg:npm/${name.replace('@', '%40')}@${version}`);
  if (own === undefined) throw new Error(`${name} is no component of its own SBOM`);
  const dependencies = sbom.dependencies.map(({ ref, dependsOn = [] }) => ({
    ref,
    dependsOn: dependsOn.filter((to) => isNeeded(ref, to)),
  }));
  const needs = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const reached = new Set([own['bom-ref']]);
  for (const ref of reached) for (const next of needs.get(ref) ?? []) reached.add(next);
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: { ...own, type: 'application' } },
    components: sbom.components.filter((each) => each !== own && reached.has(each['bom-ref'])),
    dependencies: dependencies.filter(({ ref }) => reached.has(ref)),
  };
}

function findProblems(sbom: Sbom, { dependencies = {} }: Manifest): string[] {
  const { bomFormat, specVersion, serialNumber, components } = sbom;
  const refs = new Set(components.map((component) => component['bom-ref']));
  const isForeign = ({ purl }: Component) => !purl.startsWith('pkg:npm/%40auth-account/');
  return [
    ...(bomFormat === 'CycloneDX' && /^1\.[5-9]$/.test(specVersion) ? [] : [`it is ${bomFormat} ${specVersion}`]),
    ...(/^urn:uuid:[0-9a-f-]{36}$/.test(serialNumber) ? [] : ['it has no serial number']),
    ...components.filter(({ purl }) => !purl.startsWith('pkg:npm/')).map(({ name }) => `${name}: has no address`),
    ...components.filter((each) => isForeign(each) && !each.hashes?.length).map(({ name }) => `${name}: has no hash`),
    ...Object.entries(dependencies)
      .map(([name, range]) => (range.startsWith('npm:') ? range.slice('npm:'.length) : `${name}@`))
      .filter((wanted) => ![...refs].some((ref) => ref.startsWith(wanted)))
      .map((wanted) => `${wanted}: is missing`),
    ...[...refs]
      .filter((ref) => /^(?:jest|knip|typescript|@biomejs|@types\/async-lock)/.test(ref))
      .map((ref) => `${ref}: is no part of it`),
  ];
}

mkdirSync(`${ROOT}reports/sbom`, { recursive: true });
const manifestOf = (service: string) => `${ROOT}services/${service}/package.json`;
for (const service of readdirSync(`${ROOT}services`).filter((name) => existsSync(manifestOf(name)))) {
  const manifest: Manifest = JSON.parse(readFileSync(manifestOf(service), 'utf8'));
  const sbom = narrow(askNpm(manifest.name), manifest);
  const problems = findProblems(sbom, manifest);
  if (problems.length > 0) throw new Error(`${service}: ${problems.join('; ')}`);
  writeFileSync(`${ROOT}reports/sbom/${service}.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`reports/sbom/${service}.cdx.json: ${sbom.components.length} components`);
}
