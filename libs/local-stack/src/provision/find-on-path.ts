import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Returns the first executable of this name in the directories of PATH. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const directory of (env.PATH ?? '').split(delimiter)) {
    const path = join(directory || '.', name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
