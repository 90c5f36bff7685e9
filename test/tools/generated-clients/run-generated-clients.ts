import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provideSeparately } from '../separate-install.ts';
import { withFolder } from '../with-folder.ts';
import { typeAssertions } from './assert-types.ts';

/**
 * `npm run test:long clients`: generates clients from docs/openapi.json for TypeScript (openapi-typescript), Kotlin and
 * Swift (openapi-generator), and compiles the first two with code like an app's. Fails if any cannot be generated or
 * does not compile. Needs `java` and `mvn`.
 */
const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const document = join(root, 'docs/openapi.json');

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: 'inherit' });
}

/** Generates and compiles the TypeScript types. */
function generateTypes(work: string): void {
  const program = provideSeparately(join(here, 'install'), 'openapi-typescript/bin/cli.js');
  const directory = join(work, 'typescript');
  mkdirSync(directory);
  run(process.execPath, [program, document, '-o', join(directory, 'api.d.ts')], root);
  writeFileSync(join(directory, 'assertions.ts'), typeAssertions(JSON.parse(readFileSync(document, 'utf8'))));
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  run(process.execPath, [tsc, ...strict, '--ignoreConfig', join(directory, 'assertions.ts')], directory);
}

function generateKotlinAndSwift(work: string): void {
  cpSync(join(here, 'pom.xml'), join(work, 'pom.xml'));
  cpSync(join(here, 'kotlin'), join(work, 'kotlin'), { recursive: true });
  run('mvn', ['-B', '-q', '-ntp', `-Dopenapi=${document}`, 'compile'], work);
}

await withFolder('generated-clients', (work) => {
  generateTypes(work);
  generateKotlinAndSwift(work);
});
console.log('Clients: types, Kotlin and Swift were generated; the types are exact, and the Kotlin client compiles');
