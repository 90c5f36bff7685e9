import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { StepResult } from './provision-step.ts';

export interface Requirement {
  /** Smallest version that will do, as `[major, minor]`. */
  readonly minimum: readonly [number, number];
}

const run = promisify(execFile);

/** Runs `binary --version`: a binary that lacks a shared library, or that is too old, is of no use. */
export async function checkBinary(binary: string, { minimum }: Requirement): Promise<StepResult> {
  const output = await readVersion(binary);
  if (output instanceof Error) return { missing: `${binary} does not run: ${firstLine(output)}` };
  const version = /v(?:=|ersion v?)?(\d+)\.(\d+)\.\d+/.exec(output);
  if (version === null) return { missing: `${binary} does not tell its version` };
  const [major, minor] = [Number(version[1]), Number(version[2])];
  const isNewEnough = major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
  if (!isNewEnough) return { missing: `${binary} is ${major}.${minor}, needed is ${minimum.join('.')} or later` };
  return { binary };
}

async function readVersion(binary: string): Promise<string | Error> {
  try {
    return (await run(binary, ['--version'], { timeout: 30_000 })).stdout;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The loader's complaint stands after execFile's own "Command failed" line. */
function firstLine(error: Error): string {
  const [command, ...rest] = error.message.trim().split('\n');
  return rest[0] ?? command ?? '';
}
