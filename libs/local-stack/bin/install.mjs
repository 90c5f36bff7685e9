/**
 * Installs the dependencies where they are missing or not those of the lock file. Runs before `npm run up` and `npm
 * test`, on whatever Node (20 or later) started npm, and therefore needs no dependency itself.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const modules = join(root, 'node_modules');
const memory = join(modules, '.installed-from');
const oldestNode = [22, 18];

const wanted = fingerprint();
const reason = findReason();
if (reason === undefined) {
  console.log('Dependencies: as the lock file says, nothing to install');
} else {
  console.log(`Dependencies: ${reason}, running npm ci`);
  const code = await installAll();
  if (code !== 0) process.exit(code);
  writeFileSync(memory, `${wanted}\n`);
}
assertNode();

/** Changes whenever `npm ci` would install something else. */
function fingerprint() {
  const hash = createHash('sha256').update(`${platform()} ${arch()}\n`);
  for (const file of [join(root, 'package-lock.json'), ...workspaceManifests()]) {
    hash
      .update(`${relative(root, file)}\n`)
      .update(readFileSync(file))
      .update('\n');
  }
  return hash.digest('hex');
}

/** The patterns of package.json's `workspaces` are directories, or end in a star for each directory below. */
function workspaceManifests() {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return workspaces
    .flatMap((pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const parent = pattern.slice(0, -2);
      return readdirSync(join(root, parent)).map((name) => join(parent, name));
    })
    .map((directory) => join(root, directory, 'package.json'))
    .filter((file) => existsSync(file))
    .sort();
}

function findReason() {
  if (!existsSync(modules)) return 'node_modules is missing';
  if (!existsSync(memory)) return 'node_modules was not completed by an earlier start';
  return readFileSync(memory, 'utf8').trim() === wanted ? undefined : 'the lock file or a package.json has changed';
}

/**
 * Runs npm ci to its end and answers with its exit code. The packages' own scripts are left out: docs/security.md says why
 * none is needed. A signal is passed on; Ctrl-C has reached npm by itself.
 */
function installAll() {
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  const child = spawn(command, [...args, 'ci', '--ignore-scripts'], { cwd: root, stdio: 'inherit' });
  let interrupted = 0;
  process.on('SIGINT', () => {
    interrupted = 130;
  });
  process.on('SIGTERM', () => {
    interrupted = 143;
    child.kill('SIGTERM');
  });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`npm ci could not be started: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code, signal) => {
      if (code !== 0 && !interrupted) console.error(`npm ci failed (${signal ?? `exit code ${code}`})`);
      resolve(interrupted || (code ?? 1));
    });
  });
}

/**
 * What the scripts after this one will find as `node`: the one in node_modules/.bin, where npm's PATH begins, or this
 * one.
 */
function assertNode() {
  const pinned = join(modules, '.bin', 'node');
  const node = existsSync(pinned) ? pinned : process.execPath;
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  console.error(`Node ${oldestNode.join('.')} or later is needed and ${node} is ${version || 'not to be run'}.`);
  console.error(`No Node comes with the dependencies for ${platform()} ${arch()}: install Node 22 and try again.`);
  process.exit(1);
}
