import { execFileSync } from 'node:child_process';

/**
 * npm's arguments for a package that the project's own install leaves out. Its package.json pins what it asks for by
 * exact version, this day pins the rest: no version that was published later is installed. Move it with the versions.
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

/** Installs the package in the directory; npm writes to standard error. Throws if it fails. */
export function installSeparately(directory: string): void {
  execFileSync('npm', npmArguments, { cwd: directory, stdio: ['ignore', 2, 2] });
}
