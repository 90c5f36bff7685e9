import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * Packs a library that internal services install. Run `npm run pack [-- <directory>]` in the library's directory. It
 * compiles the library to .js and .d.ts, because Node does not strip types under node_modules, and puts the tarball
 * into the given directory (by default the current one). Documents beside its package.json (README.md, catalogue.json)
 * are included.
 */
const run = promisify(execFile);
const home = process.cwd();
const documentPattern = /^(README\.md|catalogue\.json)$/;
const destination = resolve(process.argv[2] ?? home);
const staging = await mkdtemp(join(tmpdir(), `${basename(home)}-pack-`));

try {
  const compiled = join(staging, 'compiled');
  const content = join(staging, 'content');
  await run('tsc', ['-p', join(home, 'tsconfig.build.json'), '--outDir', compiled]);
  await cp(join(compiled, basename(home), 'src'), content, { recursive: true });
  await writeFile(join(content, 'package.json'), `${JSON.stringify(await publishedManifest(), null, 2)}\n`);
  for (const file of await documents()) await cp(join(home, file), join(content, file));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: content });
  console.log(join(destination, stdout.trim()));
} finally {
  await rm(staging, { recursive: true });
}

async function documents(): Promise<string[]> {
  return (await readdir(home)).filter((file) => documentPattern.test(file));
}

async function publishedManifest(): Promise<object> {
  const source = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { private: _private, scripts: _scripts, devDependencies: _devDependencies, exports, ...kept } = source;
  const published = Object.entries(exports as Record<string, string>).map(([name, path]) => [name, target(path)]);
  return { ...kept, sideEffects: false, engines: { node: '>=20' }, exports: Object.fromEntries(published) };
}

/** Returns the published path of a source. Sources are in `src/`, and published files are beside their package.json. */
function target(path: string): string | object {
  if (!path.endsWith('.ts')) return path;
  const stem = path.replace(/^\.\/src\/(.*)\.ts$/, './$1');
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}
