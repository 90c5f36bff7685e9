import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from '@auth-account/page/build';
import { build, type Metafile } from 'esbuild';
import { type BundledPackage, packagesOf } from './packages.ts';
import { keepPlaces, withoutMaps } from './plugins.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Native packages, which cannot be bundled. */
const outside = ['@node-rs/argon2', '@node-rs/bcrypt', 'argon2', 'uWebSockets.js'];

/**
 * Optional packages that no image has. `msgpackr-extract` speeds up reading by msgpackr, but BullMQ, its only user,
 * just writes. `supports-color` gives `debug` its colours.
 */
const leftOut = ['msgpackr-extract', 'supports-color'];

/** Packages whose files a service reads. A script of k8s/dev imports the driver in authctl's image. */
const read: Readonly<Record<string, readonly string[]>> = { api: ['swagger-ui-dist'], authctl: ['mongodb'] };

/** Packages in a service's page. */
const inPage: Readonly<Record<string, readonly string[]>> = {
  console: ['node_modules/react', 'node_modules/react-dom', 'node_modules/scheduler'],
};

/** Programs of a service in addition to `main`, by the names of their bundles. */
const programs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  api: {
    preload: 'libs/telemetry/src/preload.ts',
    migrate: 'services/api/bin/migrate.ts',
    'hash-thread': 'services/api/src/security/hash-thread.ts',
  },
  'push-gateway': { preload: 'libs/telemetry/src/preload.ts' },
  worker: { preload: 'libs/telemetry/src/preload.ts' },
  console: { preload: 'libs/telemetry/src/preload.ts' },
  authctl: {},
};

/** The content of a bundle. */
export interface Bundle {
  /** The bundle's files, with the number of bytes that come from each source (esbuild's metafile). */
  readonly outputs: Metafile['outputs'];
  /** Packages in the bundle. */
  readonly inside: readonly BundledPackage[];
  /** Folders of the packages that the bundle loads when it runs, such as `node_modules/mongodb`. */
  readonly outside: readonly string[];
}

/**
 * Bundles a service for its image. The folder gets ECMAScript modules (`main.js`, the other programs, and the code that
 * they share) with source maps of the project's own files. In the image, the folder must be `services/NAME/dist`,
 * because paths in the code are relative to it. Throws if the service has no bundle, or a build fails.
 *
 * @param target Folder that gets the files.
 */
export async function bundleService(service: string, target: string): Promise<Bundle> {
  const others = programs[service];
  if (others === undefined) throw new Error(`${service} is none of ${Object.keys(programs).join(', ')}`);
  const entries = {
    'map-stack-traces': 'libs/telemetry/src/map-stack-traces.ts',
    main: `services/${service}/src/main.ts`,
    ...others,
  };
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: target,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    mainFields: ['module', 'main'],
    external: [...outside, ...leftOut],
    // Names are not minified, so that stack traces show them.
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    legalComments: 'none',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    // The stack traces of all other modules are mapped. CommonJS code in the bundle calls `require` for Node's modules
    // and for packages that are not bundled.
    banner: {
      js: "import'./map-stack-traces.js';import{createRequire as createRequire_}from'node:module';const require=createRequire_(import.meta.url);",
    },
    plugins: [keepPlaces(join('services', service, 'dist'), entries), withoutMaps],
  });
  if (service === 'console') await writePage(join(root, 'services/console/page'), join(target, 'page'));
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return {
    outputs: metafile.outputs,
    inside: packagesOf(root, [...Object.values(metafile.outputs).flatMap(usedInputs), ...(inPage[service] ?? [])]),
    outside: [...outside.filter((name) => imported.includes(name)), ...(read[service] ?? [])].map(
      (name) => `node_modules/${name}`,
    ),
  };
}

/** Builds a page and writes its files, beside the bundle that serves them. */
async function writePage(pageDir: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const [path, { body }] of await buildPage({ pageDir, name: 'console' }))
    await writeFile(join(target, path === '/' ? 'index.html' : path), body);
}

/** Returns the sources of which an output has a part. */
function usedInputs({ inputs }: Metafile['outputs'][string]): string[] {
  return Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0);
}
