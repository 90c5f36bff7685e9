import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleService, closureOf, packagesOf } from '@auth-account/bundle';
import { withFolder } from '../with-folder.ts';

/**
 * Writes a CycloneDX SBOM for each service, `reports/sbom/<service>.cdx.json`, with what its image holds: the packages
 * in its bundle and beside it, as installed here, and the project's own libraries. It is npm's own SBOM, narrowed to
 * these parts. Throws if an SBOM is not as expected.
 */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly unknown[];
  readonly licenses?: readonly unknown[];
}

interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

type Manifest = Readonly<Record<'name' | 'version', string>>;

/** Returns the manifest in this folder. */
function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
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

/** Returns the packages in the service's bundle and beside it, and the libraries in it, each as `name@version`. */
function partsOf(service: string): Promise<ReadonlySet<string>> {
  return withFolder('sbom', async (target) => {
    const { outputs, inside, outside } = await bundleService(service, target);
    const sources = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
    const libraries = new Set(sources.flatMap((path) => /^libs\/[^/]+/.exec(path)?.[0] ?? []));
    const parts = [...inside, ...packagesOf(ROOT, closureOf(ROOT, outside)), ...[...libraries].map(manifestOf)];
    return new Set(parts.map(({ name, version }) => `${name}@${version}`));
  });
}

/** Makes the service the root of the SBOM, in place of the project, and keeps only the service's parts. */
function narrow(sbom: Sbom, { name, version }: Manifest, parts: ReadonlySet<string>): Sbom {
  const own = sbom.components.find(({ purl }) => purl === `pkg:npm/${name.replace('@', '%40')}@${version}`);
  if (own === undefined) throw new Error(`${name} is no component of its own SBOM`);
  const isKept = (ref: string) => parts.has(ref) || ref === own['bom-ref'];
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: { ...own, type: 'application' } },
    components: sbom.components.filter((each) => each !== own && isKept(each['bom-ref'])),
    dependencies: sbom.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  };
}

function findProblems(
  { bomFormat, specVersion, serialNumber, components }: Sbom,
  parts: ReadonlySet<string>,
): string[] {
  const refs = new Set(components.map((component) => component['bom-ref']));
  const isForeign = ({ purl }: Component) => !purl.startsWith('pkg:npm/%40auth-account/');
  return [
    ...(bomFormat === 'CycloneDX' && /^1\.[5-9]$/.test(specVersion) ? [] : [`it is ${bomFormat} ${specVersion}`]),
    ...(/^urn:uuid:[0-9a-f-]{36}$/.test(serialNumber) ? [] : ['it has no serial number']),
    ...components.filter(({ purl }) => !purl.startsWith('pkg:npm/')).map(({ name }) => `${name}: has no address`),
    ...components.filter((each) => isForeign(each) && !each.hashes?.length).map(({ name }) => `${name}: has no hash`),
    ...components.filter(({ licenses }) => !licenses?.length).map(({ name }) => `${name}: has no licence`),
    ...[...parts].filter((ref) => !refs.has(ref)).map((ref) => `${ref}: is missing`),
  ];
}

mkdirSync(`${ROOT}reports/sbom`, { recursive: true });
for (const service of readdirSync(`${ROOT}services`).filter((name) => existsSync(`${ROOT}services/${name}/src`))) {
  const manifest = manifestOf(`services/${service}`);
  const parts = await partsOf(service);
  const sbom = narrow(askNpm(manifest.name), manifest, parts);
  const problems = findProblems(sbom, parts);
  if (problems.length > 0) throw new Error(`${service}: ${problems.join('; ')}`);
  writeFileSync(`${ROOT}reports/sbom/${service}.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`reports/sbom/${service}.cdx.json: ${sbom.components.length} components`);
}
