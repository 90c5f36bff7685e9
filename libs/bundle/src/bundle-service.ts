import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { type BundledPackage, packagesOf } from './packages.ts';
import { keepPlaces, withoutMaps } from './plugins.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Packages that stay outside: native ones, and those that are instrumented as their files require each other, which
 * files of a bundle don't.
 */
const outside = ['mongodb', 'ioredis', '@node-rs/argon2', '@node-rs/bcrypt', 'argon2', 'uWebSockets.js'];

/**
 * Optional packages that no image has: a native part of msgpackr that reads faster (BullMQ, its only user, writes), and
 * the colours of `debug`.
 */
const leftOut = ['msgpackr-extract', 'supports-color'];

/** Packages of which a service reads files. */
const read: Readonly<Record<string, readonly string[]>> = { api: ['swagger-ui-dist'] };

/** Programs of a service beside `main`, by the names of their bundles. */
const programs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  api: {
    preload: 'libs/telemetry/src/preload.ts',
    migrate: 'services/api/bin/migrate.ts',
    'hash-thread': 'services/api/src/security/hash-thread.ts',
  },
  'push-gateway': { preload: 'libs/telemetry/src/preload.ts' },
  worker: { preload: 'libs/telemetry/src/preload.ts' },
  authctl: {},
};

/** What a bundle is made of. */
export interface Bundle {
  /** Files, with the bytes that each source has in them (esbuild's metafile). */
  readonly outputs: Metafile['outputs'];
  /** Packages within it. */
  readonly inside: readonly BundledPackage[];
  /** Folders of the packages that it loads when it runs: `node_modules/mongodb`. */
  readonly outside: readonly string[];
}

/**
 * Bundles a service for its image: `main.js`, its other programs, and what several of them share, as ECMAScript
 * modules in one folder, with source maps of the project's own files. Its place must be `services/NAME/dist`, since paths
 * in the code are relative to it. Throws if the service has no bundle, or a build fails.
 *
 * @param target Folder that gets the files.
 */
export async function bundleService(service: string, target: string): Promise<Bundle> {
  const others = programs[service];
  if (others === undefined) throw new Error(`${service} is none of ${Object.keys(programs).join(', ')}`);
  const entries = { main: `services/${service}/src/main.ts`, ...others };
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
    // Names stay, for stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    legalComments: 'none',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    // CommonJS within the bundle requires Node's modules and the packages outside.
    banner: {
      js: "import{createRequire as createRequire_}from'node:module';const require=createRequire_(import.meta.url);",
    },
    plugins: [keepPlaces(join('services', service, 'dist'), entries), withoutMaps],
  });
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return {
    outputs: metafile.outputs,
    inside: packagesOf(root, Object.keys(metafile.inputs)),
    outside: [...outside.filter((name) => imported.includes(name)), ...(read[service] ?? [])].map(
      (name) => `node_modules/${name}`,
    ),
  };
}
