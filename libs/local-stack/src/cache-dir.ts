import { join } from 'node:path';
import { projectRoot } from './project-root.ts';
import { localVariables } from './stack/local-variables.ts';

/**
 * Returns the directory of downloaded server binaries. It is the project's `.cache/`, which git ignores, or
 * `LOCAL_STACK_CACHE_DIR`, which several clones may share.
 */
export function cacheDirOf(env: NodeJS.ProcessEnv): string {
  return env.LOCAL_STACK_CACHE_DIR ?? join(projectRoot, localVariables.LOCAL_STACK_CACHE_DIR.default);
}
