import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);
export const root = join(import.meta.dirname, '../..');

const tsc = join(root, 'node_modules/.bin/tsc');
const installOptions = ['--silent', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];

/** A directory with packed libraries, and empty projects that install them. */
export interface Packages {
  /** Packs each library at most once, and installs them, with further packages, in an empty project. */
  install(libraries: readonly string[], others?: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export async function openPackages(): Promise<Packages> {
  const directory = await mkdtemp(join(tmpdir(), 'packages-'));
  const env = await withUncheckedTsc(directory);
  const tarballs = new Map<string, Promise<string>>();

  const pack = async (library: string) => {
    const cwd = join(root, 'libs', library);
    const script = join(root, 'libs/local-stack/bin/pack.ts');
    return (await run(process.execPath, [script, directory], { cwd, env })).stdout.trim();
  };
  const packOnce = (library: string) => {
    const packed = tarballs.get(library) ?? pack(library);
    tarballs.set(library, packed);
    return packed;
  };
  return {
    async install(libraries, others = []) {
      const project = await mkdtemp(join(directory, 'project-'));
      await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
      const packed = await Promise.all(libraries.map(packOnce));
      await run('npm', ['install', ...installOptions, ...packed, ...others], { cwd: project });
      return project;
    },
    close: () => rm(directory, { recursive: true }),
  };
}

/**
 * Returns an environment whose `tsc` checks no types, because `npm run check types` does that and it takes most of the
 * time. What it writes is the same.
 */
async function withUncheckedTsc(directory: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(directory, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'tsc'), `#!/bin/sh\nexec '${tsc}' --noCheck "$@"\n`);
  await chmod(join(bin, 'tsc'), 0o755);
  return { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
}

/** Checks the types of a project as its own developers would. Returns the compiler's complaints. */
export async function typeCheck(project: string, args: readonly string[]): Promise<string> {
  // One thread and no garbage collection take a third of the time.
  const options = { cwd: project, env: { ...process.env, GOGC: 'off' } };
  return (await run(tsc, [...args, '--singleThreaded'], options).catch((error) => error)).stdout;
}

/** Arguments that check this file of an internal service, which has Node's types. */
export const internalServiceFile = (file: string): string[] => [
  ...['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'],
  ...['--types', 'node', '--typeRoots', join(root, 'node_modules/@types'), file],
];
