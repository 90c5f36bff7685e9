import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyCompileCache } from './compile-cache.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const modules = join(root, 'node_modules');
const memory = join(modules, '.installed-from');
const oldestNode = [22, 18];

/**
 * Installs the dependencies if they are missing or differ from the lock file, and returns the path of the Node that
 * must run the project. It works on any Node from 20 on and needs no dependencies itself. It ends the process if npm
 * fails or no suitable Node is found.
 */
export async function install() {
  const wanted = fingerprint();
  const reason = findReason(wanted);
  if (reason !== undefined) {
    console.error(`Dependencies: ${reason}, running npm ci (Node is among them)`);
    const code = await runNpm();
    if (code !== 0) process.exit(code);
    emptyCompileCache();
    writeFileSync(memory, `${wanted}\n`);
  }
  return findNode();
}

/** Returns a hash of everything that decides what `npm ci` installs. */
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

/**
 * Expands package.json's `workspaces`. Each is a directory, or a pattern that ends in a star and stands for every
 * directory below.
 */
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

function findReason(wanted) {
  if (!existsSync(modules)) return 'node_modules is missing';
  if (!existsSync(memory)) return 'node_modules was not completed by an earlier start';
  return readFileSync(memory, 'utf8').trim() === wanted ? undefined : 'the lock file or a package.json has changed';
}

/**
 * Runs npm ci to its end and returns its exit code. Packages' install scripts are not run; docs/security.md says why
 * they are not needed. Warnings are hidden, because under Node 20 there are two hundred lines of them, and they concern
 * the Node that runs npm, not the project's. A signal is forwarded, except Ctrl-C, which reaches npm by itself.
 */
function runNpm() {
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  const child = spawn(command, [...args, 'ci', '--ignore-scripts', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
  });
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
      process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
      if (code !== 0 && !interrupted) {
        console.error(`npm ci failed (${signal ?? `exit code ${code}`}), so the dependencies are missing.`);
        console.error('It needs a registry of npm packages: check the network and "npm config get registry".');
      }
      resolve(interrupted || (code ?? 1));
    });
  });
}

/** Returns the path of the Node among the dependencies, or of the present Node if none exists for this platform. */
function findNode() {
  const pinned = join(modules, '.bin', 'node');
  if (!existsSync(pinned)) return assertNew(process.execPath, process.version);
  if (realpathSync(pinned) === realpathSync(process.execPath)) return assertNew(pinned, process.version);
  return assertNew(pinned, spawnSync(pinned, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '');
}

function isNew(version) {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

function assertNew(node, version) {
  if (isNew(version)) return node;
  console.error(`Node ${oldestNode.join('.')} or later is needed and ${node} is ${version || 'not to be run'}.`);
  console.error(`No Node comes with the dependencies for ${platform()} ${arch()}: install Node 22 and try again.`);
  process.exit(1);
}
