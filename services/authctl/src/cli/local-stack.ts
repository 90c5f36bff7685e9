import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hasVariable, loadConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import type { Terminal } from './terminal.ts';

/** Content of the file that `npm run up` writes into its data directory while it runs. */
interface RunFile {
  /** The process that wrote the file. `marker` is in its command line. */
  readonly owner: { readonly pid: number; readonly marker: string };
  readonly environment?: Readonly<Record<string, string>>;
}

const Text = Type.Optional(Type.String());
/** Variables that name another system. If one of them is set, even to empty text, no local stack is used. */
const ownVariables = [
  ...['MONGODB_URI', 'MONGODB_URI_FILE', 'REDIS_URL', 'REDIS_URL_FILE', 'PROBE_API_URL'],
  ...['ACCESS_TOKEN_KEYS_FILE', 'REFRESH_TOKEN_KEYS_FILE', 'SERVER_KEYS_FILE'],
];
const schema = Type.Object({ NODE_ENV: Text, LOCAL_DATA_DIR: Text });

/**
 * Returns the variables of the local stack that runs on this machine, and prints a line about it on stderr. Returns
 * undefined if the environment names a system itself, if it is a production environment, or if no stack runs.
 */
export function findLocalStack({ env, localStack, stderr }: Terminal): Readonly<Record<string, string>> | undefined {
  if (localStack === undefined) return undefined;
  const { NODE_ENV, LOCAL_DATA_DIR } = loadConfig(schema, env && { env });
  if (NODE_ENV === 'production' || hasVariable(ownVariables, env)) return undefined;
  const file = LOCAL_DATA_DIR ? pathToFileURL(join(LOCAL_DATA_DIR, 'up.json')) : localStack;
  const { owner, environment } = readRunFile(file) ?? {};
  if (owner === undefined || environment === undefined || !isRunning(owner)) return undefined;
  stderr.write(`authctl: uses the local stack that ${fileURLToPath(file)} names, as the environment names no system\n`);
  return environment;
}

/**
 * Reads the file. The file may choose the system to operate on only if this user wrote it and nobody else can write it.
 */
function readRunFile(file: URL): RunFile | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const { uid, mode } = fstatSync(descriptor);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return undefined;
    return JSON.parse(readFileSync(descriptor, 'utf8'));
  } catch {
    // There is no stack, or it is starting, or it belongs to another user.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Checks the marker too. The file outlives a stack that was killed, so another process may have the stack's process id
 * by now.
 */
function isRunning({ pid, marker }: RunFile['owner']): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(marker);
  } catch {
    return false;
  }
}
