import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Keeps addresses relative to a source what they are from the place of its bundle: `new URL('../../templates/',
 * import.meta.url)`. That of another program (`./hash-thread.ts`) becomes its bundle's.
 *
 * @param place Folder of the bundle, from the project's root.
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

/** Maps the first character of a file, and nothing else. */
const emptyMap = Buffer.from('{"version":3,"sources":["-"],"mappings":"AAAA"}').toString('base64');

/** Leaves packages out of the source maps, which Node reads when it loads a bundle. */
export const withoutMaps: Plugin = {
  name: 'without-maps',
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${emptyMap}`,
      loader: 'js',
    }));
  },
};
