import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

/**
 * Keeps addresses that are relative to a source, such as `new URL('../../templates/', import.meta.url)`, valid in its
 * bundle. The address of another program (`./hash-thread.ts`) becomes that of the program's bundle.
 *
 * @param place Folder of the bundle, relative to the project's root.
 * @param entries Sources of the bundle's programs, by name.
 */
export function keepPlaces(place: string, entries: Readonly<Record<string, string>>): Plugin {
  const sources = new Map(Object.entries(entries).map(([name, source]) => [source, name]));
  const programAt = /new URL\('(\.[^']*\.ts)', import\.meta\.url\)/g;
  return {
    name: 'keep-places',
    setup({ onLoad, initialOptions: { absWorkingDir: root = '' } }) {
      onLoad({ filter: /\/(?:libs|services)\/.*\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        if (path.includes('/node_modules/') || !source.includes('import.meta.url')) return;
        const file = relative(root, path);
        const contents = source
          .replaceAll(programAt, (_, other: string) => {
            const program = sources.get(join(dirname(file), other));
            if (program === undefined) throw new Error(`${file}: ${other} is no program of this bundle`);
            return `new URL('${program}.js', import.meta.url)`;
          })
          .replaceAll(/(?<!\.js', )import\.meta\.url/g, `new URL('${relative(place, file)}', import.meta.url).href`);
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** A source map that maps only the first character of a file. */
const emptyMap = Buffer.from('{"version":3,"sources":["-"],"mappings":"AAAA"}').toString('base64');

/** Leaves packages out of the source maps, which are read on an error: without them a map is a fifth as large. */
export const withoutMaps: Plugin = {
  name: 'without-maps',
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${emptyMap}`,
      loader: 'js',
    }));
  },
};

const resolved = Symbol('resolved');

/**
 * Leaves out modules of these packages that nobody uses, such as BullMQ's other stores. Each exports everything from one
 * module, and does not declare that its modules have no side effects.
 */
export const withoutUnused: Plugin = {
  name: 'without-unused',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(?:bullmq$|@simplewebauthn\/|@peculiar\/|\.)/ }, async ({ path, pluginData, ...from }) => {
      const isInside = !path.startsWith('.') || /\/node_modules\/(?:bullmq|@simplewebauthn)\//.test(from.importer);
      if (!isInside || pluginData === resolved) return;
      return { ...(await resolve(path, { ...from, pluginData: resolved })), sideEffects: false };
    });
  },
};

/**
 * Packages of which no service calls a function: BullMQ would read schedules with one, and body-parser texts of other
 * character sets with the other. The services have no schedules, and read bodies as bytes.
 */
const unused = ['cron-parser', 'iconv-lite'];

/**
 * Modules with which @simplewebauthn/server reads the certificates of attestations. No attestation is asked for, and
 * those that come are put aside (services/api/src/security/passkeys/webauthn.ts).
 */
const attestations = /^\.\/verifications\/|^@peculiar\/(?:x509|asn1-x509|asn1-rsa)$/;

/** Replaces the unused packages and modules by empty ones. */
export const withoutUncalled: Plugin = {
  name: 'without-uncalled',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(?:${unused.join('|')})$`) }, ({ path }) => ({ path, namespace: 'uncalled' }));
    onResolve({ filter: attestations }, ({ path, importer }) =>
      importer.includes('/node_modules/@simplewebauthn/server/') ? { path, namespace: 'uncalled' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'uncalled' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * Has Node's module `http` loaded by `require`. An `import` reads all its exports, and some of these load the whole of
 * undici when they are read, for 40 ms of CPU and 6 MiB.
 */
export const requireHttp: Plugin = {
  name: 'require-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'require' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'require' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }));
  },
};

/**
 * Has an exporter of OpenTelemetry loaded when the SDK makes one. The SDK imports all of them, gRPC's included, which
 * takes 18 ms of CPU and 6 MiB.
 */
export const lazyExporters: Plugin = {
  name: 'lazy-exporters',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^@opentelemetry\/exporter-/ }, ({ path, kind, resolveDir }) =>
      kind === 'import-statement' ? { path, namespace: 'lazy', pluginData: resolveDir } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'lazy' }, async ({ path, pluginData: resolveDir }) => {
      const exporter = await resolve(path, { kind: 'require-call', resolveDir });
      const names = Object.keys(require(exporter.path));
      const getters = names.map((name) => `get ${name}() { return require('${path}').${name}; }`);
      return { contents: `module.exports = { ${getters.join(', ')} };`, resolveDir };
    });
  },
};
