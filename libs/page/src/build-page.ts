import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/** A file of a page. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array | string;
}

export interface PageSource {
  /** Folder with `main.tsx`, `styles.css` and `index.html`. */
  readonly pageDir: string;
  /** Name of the files to which `index.html` refers: `/{name}.js`, `/{name}.css`. */
  readonly name: string;
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Bundles a page with React, the same as an app would. Returns its files by path. Throws esbuild's errors. */
export async function buildPage({ pageDir, name }: PageSource): Promise<ReadonlyMap<string, PageFile>> {
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'styles.css'].map((file) => ({ in: join(pageDir, file), out: name })),
    outdir: '/',
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  });
  const html = await readFile(join(pageDir, 'index.html'), 'utf8');
  return new Map([
    ['/', { type: 'text/html; charset=utf-8', body: html }],
    ...outputFiles.map(({ path, contents }): [string, PageFile] => {
      const file = path.slice(path.lastIndexOf('/'));
      return [file, { type: types[file.split('.').at(-1) ?? ''] ?? 'text/plain', body: contents }];
    }),
  ]);
}
