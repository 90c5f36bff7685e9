import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Keeps URLs that are relative to a source, such as `new URL('../../templates/', import.meta.url)`, valid in its
 * bundle. The URL of another program (`./hash-thread.ts`) becomes that of the program's bundle.
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
