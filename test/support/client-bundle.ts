import { join } from 'node:path';
import { build } from 'esbuild';

const sources = join(import.meta.dirname, '../../libs/client/src');

/** Returns the client and other modules of it (`adapters/browser`) as one minified script, as an app's bundler makes it. */
export async function bundleClient(more: readonly string[], format: 'esm' | 'iife'): Promise<string> {
  const contents = ['index', ...more].map((module) => `export * from './${module}.ts';`).join('');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: sources, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format,
    target: 'es2022',
    ...(format === 'iife' && { globalName: 'authClient' }),
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild has written nothing');
  return file.text;
}
