import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { StepResult } from './provision-step.ts';

/** Major and minor version. */
export type Version = readonly [number, number];

export interface Requirement {
  /** Smallest version that is accepted. */
  readonly minimum: Version;
  /** Returns a reason to refuse a version that is new enough, if there is one. */
  readonly findFlaw?: (version: Version, patch: number) => string | undefined;
}

const run = promisify(execFile);

/** Runs `binary --version`, to find out whether the binary lacks a shared library, or has a version that is refused. */
export async function checkBinary(binary: string, { minimum, findFlaw }: Requirement): Promise<StepResult> {
  const version = await findVersion(binary);
  if ('missing' in version) return version;
  const [major, minor] = version.found;
  const isNewEnough = major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
  if (!isNewEnough) return { missing: `${binary} is ${major}.${minor}, needed is ${minimum.join('.')} or later` };
  const flaw = findFlaw?.(version.found, version.patch);
  return flaw === undefined ? { binary } : { missing: `${binary} ${flaw}` };
}

/** Returns the version that a binary prints, or the reason why it does not print one. */
export async function findVersion(
  binary: string,
): Promise<{ readonly found: Version; readonly patch: number } | { readonly missing: string }> {
  try {
    const { stdout } = await run(binary, ['--version'], { timeout: 30_000 });
    const match = /v(?:=|ersion v?)?(\d+)\.(\d+)\.(\d+)/.exec(stdout);
    if (match === null) return { missing: `${binary} does not show its version` };
    return { found: [Number(match[1]), Number(match[2])], patch: Number(match[3]) };
  } catch (error) {
    return { missing: `${binary} does not run: ${firstLine(error)}` };
  }
}

/** Returns the first useful line. The loader's message comes after execFile's own "Command failed" line. */
function firstLine(error: unknown): string {
  const [command, ...rest] = (error instanceof Error ? error.message : String(error)).trim().split('\n');
  return rest[0] ?? command ?? '';
}
