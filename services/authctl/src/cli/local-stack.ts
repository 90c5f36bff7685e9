import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadConfig } from '@auth-account/config';
import { Type } from 'typebox';
import type { Terminal } from './terminal.ts';

/** Content of the file that `npm run up` writes into its data directory while it runs. */
interface RunFile {
  readonly owner: { readonly pid: number };
  readonly environment?: Readonly<Record<string, string>>;
}

const Text = Type.Optional(Type.String());
/** Variables that name another system: if one of them is set, no local stack is used. */
const ownVariables = [
  ...['MONGODB_URI', 'MONGODB_URI_FILE', 'REDIS_URL', 'REDIS_URL_FILE', 'PROBE_API_URL'],
  ...['ACCESS_TOKEN_KEYS_FILE', 'REFRESH_TOKEN_KEYS_FILE', 'SERVER_KEYS_FILE'],
];
const schema = Type.Object({
  ...Object.fromEntries(ownVariables.map((name) => [name, Text])),
  NODE_ENV: Text,
  LOCAL_DATA_DIR: Text,
});

/**
 * Returns the variables of the local stack that runs on this machine, and prints a line about it on stderr. Undefined
 * if the environment names a system itself, if it is production's, or if no stack runs.
 */
export function findLocalStack({ env, localStack, stderr }: Terminal): Readonly<Record<string, string>> | undefined {
  if (localStack === undefined) return undefined;
  const own: Readonly<Record<string, string | undefined>> = loadConfig(schema, env && { env });
  if (own.NODE_ENV === 'production' || ownVariables.some((name) => own[name] !== undefined)) return undefined;
  const file = own.LOCAL_DATA_DIR ? pathToFileURL(join(own.LOCAL_DATA_DIR, 'up.json')) : localStack;
  const { owner, environment } = readRunFile(file) ?? {};
  if (owner === undefined || environment === undefined || !isRunning(owner.pid)) return undefined;
  stderr.write(`authctl: uses the local stack that ${fileURLToPath(file)} names, as the environment names no system\n`);
  return environment;
}

function readRunFile(file: URL): RunFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // No stack, one that is starting, or one of another user.
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
