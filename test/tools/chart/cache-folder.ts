import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const root =
  process.env.CHART_CACHE_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'auth-account');

/**
 * Returns a folder for data derived from these files. It is outside the project, so that clones share it, and depends
 * on the files' content.
 */
export function cacheFolder(kind: string, files: readonly URL[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return join(root, kind, hash.digest('hex').slice(0, 16));
}
