import { readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../.cache/compiled', import.meta.url));

/** Several times the number of files that all programs and tests load. */
const mostFiles = 50_000;

/**
 * Returns the folder of V8's compile cache, for every process that a program starts. Node adds a file for each file that
 * it loads, and never removes one, so the folder is emptied when it has grown too large.
 */
export function compileCache() {
  const files = namesIn(folder).reduce((sum, version) => sum + namesIn(`${folder}/${version}`).length, 0);
  if (files > mostFiles) emptyCompileCache();
  return folder;
}

function namesIn(path) {
  try {
    return readdirSync(path);
  } catch {
    // There is no cache yet, another process empties it, or the path is a stray file.
    return [];
  }
}

export function emptyCompileCache() {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
