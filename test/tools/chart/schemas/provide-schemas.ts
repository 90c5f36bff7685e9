import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { cacheFolder } from '../cache-folder.ts';
import { ToolError } from '../provide-tools.ts';
import { run } from '../run.ts';
import { type ResourceSchema, toBuiltInSchemas, toCustomSchemas } from './resource-schemas.ts';

/** The version of Kubernetes whose schemas apply, and for which Helm renders. */
export const kubernetesVersion = '1.33.13';

/** Go modules that contain schemas. They come through a module proxy, and the go command verifies their checksums. */
const kubernetes = { module: `k8s.io/kubernetes@v${kubernetesVersion}`, file: 'api/openapi-spec/swagger.json' };
const customResources = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.3.0',
    folder: 'config/crd/standard',
    files: ['gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd',
    files: ['podmonitors', 'servicemonitors', 'prometheusrules'].map((name) => `monitoring.coreos.com_${name}.yaml`),
  },
  { module: 'github.com/kedacore/keda/v2@v2.17.2', folder: 'config/crd/bases', files: ['keda.sh_scaledobjects.yaml'] },
];

async function downloadModule(module: string, folder: string): Promise<string> {
  const { isRight, stdout, output } = await run('go', ['mod', 'download', '-json', module], { cwd: folder });
  if (!isRight)
    throw new ToolError(`The schemas in the Go module ${module} cannot be had here.\n${output.slice(-1_000)}`);
  const { Dir } = JSON.parse(stdout) as { Dir: string };
  return Dir;
}

async function makeSchemas(folder: string): Promise<ResourceSchema[]> {
  const openApi = join(await downloadModule(kubernetes.module, folder), kubernetes.file);
  const schemas = toBuiltInSchemas(JSON.parse(await readFile(openApi, 'utf8')));
  for (const { module, folder: below, files } of customResources) {
    const dir = await downloadModule(module, folder);
    for (const file of files) schemas.push(...toCustomSchemas(parse(await readFile(join(dir, below, file), 'utf8'))));
  }
  return schemas;
}

/** Returns the folder with the schemas for kubeconform, and creates it if it is missing. Throws ToolError. */
export async function provideSchemas(log: (line: string) => void): Promise<string> {
  const sources = ['provide-schemas.ts', 'resource-schemas.ts'].map((name) => new URL(name, import.meta.url));
  const cache = cacheFolder('schemas', sources);
  if (existsSync(cache)) return cache;
  log('making the schemas of Kubernetes and of the custom resources …');
  await mkdir(dirname(cache), { recursive: true });
  const work = await mkdtemp(`${cache}-`);
  try {
    for (const { file, schema } of await makeSchemas(work)) await writeFile(join(work, file), JSON.stringify(schema));
    await rename(work, cache);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return cache;
}
