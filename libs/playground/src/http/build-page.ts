import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array | string;
}

const pageDir = join(import.meta.dirname, '../../page');

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Bundles the page with React and the client, the same as an app would. Returns its files by path. */
export async function buildPage(): Promise<ReadonlyMap<string, PageFile>> {
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'styles.css'].map((file) => ({ in: join(pageDir, file), out: 'playground' })),
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
      const name = path.slice(path.lastIndexOf('/'));
      return [name, { type: types[name.split('.').at(-1) ?? ''] ?? 'text/plain', body: contents }];
    }),
  ]);
}
