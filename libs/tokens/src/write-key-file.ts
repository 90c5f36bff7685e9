import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, link, open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { KeySet } from './key-file.ts';

export interface WriteKeyFileOptions {
  /** Replaces the file that is there; without it a file that is there stays, and the write fails with `EEXIST`. */
  readonly replace: boolean;
}

/**
 * Writes a JWK set. It appears as a whole: a reader meanwhile, and a crash, meets the former file or the new
 * one. A new file is readable by its owner only; one that is replaced keeps its owner, group and mode, so that services
 * of other users can still read it. If that is not allowed, nothing is replaced.
 */
export async function writeKeyFile(path: string, set: KeySet, { replace }: WriteKeyFileOptions): Promise<void> {
  // Behind a link the file is replaced, not the link.
  const target = replace ? await realpath(path) : path;
  const former = replace ? await stat(target) : undefined;
  const draft = `${target}.${randomUUID()}.new`;
  try {
    await writeDurably(draft, `${JSON.stringify(set, undefined, 2)}\n`, former);
    // Unlike a rename, a link never takes the place of another file.
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
    // In this order, as a change of owner may take bits of the mode away.
    await file.chown(uid, gid);
    await file.chmod(mode & 0o7777);
  } catch (error) {
    const reason = `the file's owner ${uid} and group ${gid} cannot be kept (${(error as NodeJS.ErrnoException).code})`;
    throw new Error(`${reason}: nothing was replaced`, { cause: error });
  }
}
