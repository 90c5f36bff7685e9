import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { writePublicKeyFile } from '@auth-account/tokens';
import type { KeySet } from '@auth-account/verifier/access-token';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import type { KeyKind } from './key-kinds.ts';

/** A key file that a command works on. */
export interface KeyFile {
  readonly kind: KeyKind;
  /** Path of the file with the private keys. */
  readonly path: string;
  /** Path for the public parts; undefined if they are not requested. */
  readonly publicPath: string | undefined;
}

/**
 * Throws if a public file is requested but impossible, because the keys have no public parts or the path is that of the
 * private file.
 */
export async function assertPublicFile({ kind, path, publicPath }: KeyFile): Promise<void> {
  if (publicPath === undefined) return;
  const usage = { exitCode: exitCodes.usage };
  if (kind !== 'access')
    throw new CommandError('--public-file is for access keys: other keys have no public parts.', usage);
  if (await isSameFile(path, publicPath))
    throw new CommandError(`--public-file must not be the key file itself: ${path} has the private keys.`, usage);
}

/** Returns true if both paths lead to the same file, even by hard or symbolic links. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  if (resolve(one) === resolve(other)) return true;
  const find = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined);
  const [first, second] = await Promise.all([find(one), find(other)]);
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

/** Writes the public parts of the set, if they are requested. */
export async function writePublicFile({ publicPath }: KeyFile, set: KeySet): Promise<void> {
  if (publicPath === undefined) return;
  try {
    await writePublicKeyFile(publicPath, set);
  } catch (error) {
    throw new CommandError(`The public keys were not written to ${publicPath}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Returns the remaining step for the push gateway after the key file has changed; undefined if there is none. */
export function publicFileAdvice({ kind, path, publicPath }: KeyFile): string | undefined {
  if (kind !== 'access' || publicPath !== undefined) return undefined;
  return `The push gateway's file does not have it yet: authctl keys public --file ${path}`;
}
