import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

export const clientFolder = join(import.meta.dirname, '../../../libs/client');
const sources = join(clientFolder, 'src');

/** Bundles the client and further modules of its package (`adapters/browser`), minified, as an app's bundler does. */
async function bundle(more: readonly string[], format: 'esm' | 'iife') {
  const contents = ['index', ...more].map((module) => `export * from './${module}.ts';`).join('');
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: sources, loader: 'ts' },
    absWorkingDir: sources,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outfile: 'client.js',
    format,
    target: 'es2022',
    ...(format === 'iife' && { globalName: 'authClient' }),
  });
  const [file] = outputFiles;
  const modules = metafile.outputs['client.js']?.inputs;
  if (file === undefined || modules === undefined) throw new Error('esbuild has written nothing');
  return { text: file.text, modules };
}

/** Returns the client and the further modules as one script. */
export async function bundleClient(more: readonly string[], format: 'esm' | 'iife'): Promise<string> {
  return (await bundle(more, format)).text;
}

/** Sizes of the client's parts, in bytes. */
export interface ClientSizes {
  /** The core, minified and gzipped, with the larger of the adapters for browsers and React Native. */
  readonly core: number;
  /** Bytes that each group adds to the core. */
  readonly groups: Readonly<Record<string, number>>;
  /** Each module that an app can load, minified. */
  readonly modules: Readonly<Record<string, number>>;
}

const adapters = ['adapters/browser', 'adapters/react-native'];

export async function measureClient(): Promise<ClientSizes> {
  const sizeWith = async (...more: string[]) => gzipSync(await bundleClient(more, 'esm'), { level: 9 }).length;
  const groups = clientGroups();
  const bare = await sizeWith();
  const added = await Promise.all(groups.map(async (name) => [name, (await sizeWith(`groups/${name}`)) - bare]));
  const { modules } = await bundle([...adapters, ...groups.map((name) => `groups/${name}`)], 'esm');
  return {
    core: Math.max(...(await Promise.all(adapters.map((adapter) => sizeWith(adapter))))),
    groups: Object.fromEntries(added),
    modules: Object.fromEntries(Object.entries(modules).map(([path, { bytesInOutput }]) => [path, bytesInOutput])),
  };
}

/** Groups that the package exports. */
export function clientGroups(): string[] {
  const { exports } = JSON.parse(readFileSync(join(clientFolder, 'package.json'), 'utf8'));
  return Object.values<string>(exports).flatMap((path) => path.match(/^\.\/src\/groups\/(.+)\.ts$/)?.[1] ?? []);
}

/** Bytes that the core may have, bytes that a release must leave free, and bytes that each group may add. */
export const clientBudget = {
  core: 14 * 1_024,
  freeAtRelease: Math.ceil((14 * 1_024) / 10),
  group: 2 * 1_024,
} as const;

/** Returns the parts that are over their budget, then the modules that have grown since `before`, most growth first. */
export function overweight({ core, groups, modules }: ClientSizes, before: ClientSizes): string[] {
  const parts = Object.entries(groups).map(([name, size]) => [name, size, clientBudget.group] as const);
  const over = [['core', core, clientBudget.core] as const, ...parts].filter(([, size, budget]) => size > budget);
  if (over.length === 0) return [];
  const grown = Object.entries(modules)
    .map(([path, size]) => [path, size - (before.modules[path] ?? 0), size] as const)
    .filter(([, more]) => more > 0)
    .sort(([, one], [, other]) => other - one);
  return [
    ...over.map(([name, size, budget]) => `${name} has ${size} of ${budget} bytes`),
    ...grown.map(([path, more, size]) => `${path} has grown by ${more} to ${size}`),
  ];
}
