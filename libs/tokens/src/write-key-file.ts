import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, link, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { type KeySet, publicKeySet } from '@auth-account/verifier/access-token';

export interface WriteKeyFileOptions {
  /** True to replace an existing file. If false, an existing file stays and the write fails with `EEXIST`. */
  readonly replace: boolean;
}

/**
 * Writes a JWK set. The file changes in one step. A concurrent reader, or a reader after a crash, finds either the
 * former file or the new one. A new file is readable only by its owner. A replaced file keeps its owner, group and
 * mode, so that services that run as other users can still read it. If the process may not set these three, nothing is
 * replaced.
 */
export async function writeKeyFile(path: string, set: KeySet, { replace }: WriteKeyFileOptions): Promise<void> {
  // If the path is a link, its target is replaced and the link stays.
  const target = replace ? await realpath(path) : path;
  const former = replace ? await stat(target) : undefined;
  const draft = `${target}.${randomUUID()}.new`;
  try {
    await writeDurably(draft, `${JSON.stringify(set, undefined, 2)}\n`, former);
    // Unlike a rename, a link never replaces another file.
    await (replace ? rename(draft, target) : link(draft, target));
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeDurably(path: string, text: string, former: Stats | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    if (former) await permitLike(file, former);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function permitLike(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  try {
    // The owner is set before the mode, because a change of owner may clear bits in the mode.
    await file.chown(uid, gid);
    await file.chmod(mode & 0o7777);
  } catch (error) {
    const reason = `the file's owner ${uid} and group ${gid} cannot be kept (${(error as NodeJS.ErrnoException).code})`;
    throw new Error(`${reason}: nothing was replaced`, { cause: error });
  }
}

/**
 * Writes the public parts of the access token keys, because the push gateway must not have the private parts. Replaces an
 * existing file, with {@link writeKeyFile}.
 */
export async function writePublicKeyFile(path: string, set: KeySet): Promise<void> {
  await writeKeyFile(path, publicKeySet(set), { replace: await exists(path) });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
