import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The scope of the workspaces' packages, which the copy must take from itself. */
const ownScope = '@auth-account';

/**
 * Copies the files that git tracks or would add, in their present state. The copy has links to the installed packages,
 * except that its workspaces find each other in the copy.
 */
export function copyProject(root: string, target: string): void {
  for (const file of listFiles(root)) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(target, file), { verbatimSymlinks: true });
  }
  const installed = join(root, 'node_modules');
  const linked = join(target, 'node_modules');
  for (const name of readdirSync(installed)) if (name !== ownScope) link(join(installed, name), join(linked, name));
  // These links are relative, so in the copy they lead into it.
  cpSync(join(installed, ownScope), join(linked, ownScope), { recursive: true, verbatimSymlinks: true });
  for (const own of ['libs', 'services'].flatMap((folder) => workspacesOf(root, folder))) {
    if (existsSync(join(root, own, 'node_modules'))) {
      link(join(root, own, 'node_modules'), join(target, own, 'node_modules'));
    }
  }
}

function listFiles(root: string): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  return [...new Set(listed.split('\0').filter((file) => file !== ''))];
}

function workspacesOf(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

function link(source: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(source, path);
}
