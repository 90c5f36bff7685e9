import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Packs what siblings install: `npm run pack [-- <directory>]` compiles to .js and .d.ts, because Node strips no types
 * under node_modules, and leaves the tarball in the directory (default: here).
 */
const run = promisify(execFile);
const home = fileURLToPath(new URL('..', import.meta.url));
const destination = resolve(process.argv[2] ?? home);
const staging = await mkdtemp(join(tmpdir(), 'errors-pack-'));

try {
  await run('tsc', ['-p', join(home, 'tsconfig.build.json'), '--outDir', staging]);
  await writeFile(join(staging, 'package.json'), `${JSON.stringify(await publishedManifest(), null, 2)}\n`);
  for (const file of ['catalogue.json', 'README.md']) await copyFile(join(home, file), join(staging, file));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: staging });
  console.log(join(destination, stdout.trim()));
} finally {
  await rm(staging, { recursive: true });
}

async function publishedManifest(): Promise<object> {
  const source = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { name, version, description, license, type, dependencies } = source;
  const exports = {
    '.': { types: './index.d.ts', default: './index.js' },
    './grpc': { types: './grpc/index.d.ts', default: './grpc/index.js' },
    './catalogue.json': './catalogue.json',
  };
  return {
    name,
    version,
    description,
    license,
    type,
    sideEffects: false,
    engines: { node: '>=20' },
    exports,
    dependencies,
  };
}
