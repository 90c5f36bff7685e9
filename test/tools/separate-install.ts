import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * npm's arguments for a package that the project's own install leaves out. The package's package.json pins direct
 * dependencies by exact version. The day below pins the rest, because npm installs no version that was published later.
 * Change the day together with the versions.
 */
const npmArguments = [
  'install',
  '--ignore-scripts',
  '--no-package-lock',
  '--no-audit',
  '--no-fund',
  '--before=2026-11-24',
];

export function installCommand(directory: string): string {
  return `cd ${directory} && npm ${npmArguments.join(' ')}`;
}

/** Installs the package in the directory, with npm's output on standard error. Throws if it fails. */
export function installSeparately(directory: string): void {
  execFileSync('npm', npmArguments, { cwd: directory, stdio: ['ignore', 2, 2] });
}

/** Returns the path of a program in the directory's packages, which are installed if it is missing. */
export function provideSeparately(directory: string, program: string): string {
  const path = join(directory, 'node_modules', program);
  if (!existsSync(path)) installSeparately(directory);
  return path;
}
