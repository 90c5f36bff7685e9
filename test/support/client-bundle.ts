import { join } from 'node:path';
import { build } from 'esbuild';

const sources = join(import.meta.dirname, '../../libs/client/src');

/** Returns the client and an adapter as one minified script, as an app's bundler makes it. */
export async function bundleClient(adapter: string | undefined, format: 'esm' | 'iife'): Promise<string> {
  const more = adapter === undefined ? '' : `export * from './adapters/${adapter}.ts';`;
  const { outputFiles } = await build({
    stdin: { contents: `export * from './index.ts';${more}`, resolveDir: sources, loader: 'ts' },
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
