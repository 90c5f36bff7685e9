import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { currentVersion, filesOfRelease, isReleased, versionProblems } from './versions.ts';

/** `npm run release -- 0.2.0`: sets the version of packages, lock file, chart and changelog (docs/releasing.md). */

const USAGE = `Usage: npm run release -- VERSION [options]
  VERSION            the new version, as in 0.2.0
  --dry-run          lists the files that would change, and changes none
  --root DIRECTORY   another checkout than this one
  --help             this text`;

const versionForm = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

function assertHigher(root: string, version: string): void {
  const from = currentVersion(root);
  const order = version.localeCompare(from, 'en', { numeric: true });
  if (order === 0 && !isReleased(root, version)) return;
  if (order <= 0) throw new Error(`${version} is not higher than ${from}, the present version.`);
}

function assertClean(root: string): void {
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (changes !== '') throw new Error(`Commit or undo these changes first:\n${changes.trimEnd()}`);
}

/** Changes the files for the release. Throws before it writes anything if the release is not possible. */
function release(root: string, version: string, isDryRun: boolean): void {
  if (!versionForm.test(version)) throw new Error(`${version} is no version: three numbers, as in 0.2.0.`);
  assertHigher(root, version);
  assertClean(root);
  const files = [...filesOfRelease(root, version, new Date().toISOString().slice(0, 10))];
  const changed = files.filter(([path, text]) => readFileSync(join(root, path), 'utf8') !== text);
  for (const [path, text] of changed) {
    if (!isDryRun) writeFileSync(join(root, path), text);
    console.log(`${isDryRun ? 'would change' : 'changed'} ${path}`);
  }
  if (isDryRun) return;
  const problems = versionProblems(root);
  if (problems.length > 0) throw new Error(`Versions do not agree:\n${problems.join('\n')}`);
  console.log(
    `\nNext: read the diff, then\n  git commit -am 'Release ${version}' && git tag -a v${version} -m ${version}`,
  );
}

try {
  const options = { 'dry-run': { type: 'boolean' }, root: { type: 'string' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [version, ...more] = positionals;
  if (values.help) {
    console.log(USAGE);
  } else if (version === undefined || more.length > 0) {
    console.error(USAGE);
    process.exitCode = 2;
  } else {
    release(resolve(values.root ?? fileURLToPath(new URL('../../..', import.meta.url))), version, !!values['dry-run']);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
