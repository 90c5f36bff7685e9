import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../has-code.ts';
import { checkBinary, type Requirement } from './check-binary.ts';
import { findOnPath } from './find-on-path.ts';
import type { ProvisionStep } from './provision-step.ts';

const titleOf = (title: string, suffix: string | undefined) => (suffix === undefined ? title : `${title}, ${suffix}`);

/** Looks for these programs on the PATH, and takes the first that fits. */
export function createPathStep(names: readonly string[], requirement: Requirement, suffix?: string): ProvisionStep {
  return {
    title: titleOf(`${names.join(' or ')} on the PATH`, suffix),
    async run({ env }) {
      let missing = '';
      for (const name of names) {
        const binary = await findOnPath(name, env);
        if (binary === undefined) continue;
        const result = await checkBinary(binary, requirement);
        if (!('missing' in result)) return result;
        missing = result.missing;
      }
      return { missing };
    },
  };
}

/**
 * Uses a server that is already running. Like in the services' configuration, its address is in an environment variable
 * or in the file that `<variable>_FILE` names.
 */
export function createUriStep(variable: string): ProvisionStep {
  return {
    title: `${variable} set`,
    async run({ env }) {
      return env[variable] || env[`${variable}_FILE`] ? { external: true } : { missing: '' };
    },
  };
}

/** Takes the program that an environment variable names. */
export function createBinaryVariableStep(variable: string, requirement: Requirement): ProvisionStep {
  return {
    title: `${variable} set`,
    isChoice: true,
    async run({ env }) {
      const binary = env[variable];
      return binary ? checkBinary(binary, requirement) : { missing: '' };
    },
  };
}

const fileOf = (part: string, cacheDir: string) => join(cacheDir, `${part.toLowerCase()}.path`);

/**
 * Records the path of a binary in the cache. The next start then neither searches nor downloads, and opens its data
 * with the same version.
 */
export async function rememberBinary(part: string, binary: string, cacheDir: string): Promise<void> {
  if (!binary.startsWith(cacheDir)) return;
  await mkdir(cacheDir, { recursive: true });
  await writeFile(fileOf(part, cacheDir), `${binary}\n`);
}

/** Takes the binary that an earlier start put into the cache. */
export function createRememberedBinaryStep(part: string, requirement: Requirement, suffix?: string): ProvisionStep {
  return {
    title: titleOf('downloaded earlier', suffix),
    async run({ cacheDir }) {
      const binary = await findRemembered(fileOf(part, cacheDir));
      if (binary === undefined) return { missing: '' };
      return checkBinary(binary, requirement);
    },
  };
}

async function findRemembered(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
