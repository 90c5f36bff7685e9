import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCache } from './compile-cache.mjs';
import { install } from './install.mjs';

/**
 * Installs the dependencies of the lock file, then runs a program instead of this process. Signals reach the program,
 * and the npm script ends with its exit code. This may be the first command in a fresh clone, on any Node from 20 on.
 *
 *     node run.mjs PROGRAM [ARGUMENTS]                   a program, after options of Node, if any
 *     node run.mjs --one-of FILE [NAME] [ARGUMENTS]      the program that FILE (JSON) has under NAME
 *
 * For each name, FILE has `about`, `args` and, optionally, `env`. The caller's environment overrides `env`. Without a
 * name, the program named "" is run. The processes that the program starts share a compile cache.
 */

const argv = process.argv.slice(2);
const { args, env } = argv[0] === '--one-of' ? choose(argv[1], argv.slice(2)) : { args: argv, env: {} };
const preload = JSON.stringify(fileURLToPath(new URL('cache-stripped.cjs', import.meta.url)));
const NODE_OPTIONS = [`--require=${preload}`, process.env.NODE_OPTIONS].filter(Boolean).join(' ');
runInPlace(await install(), args, { NODE_COMPILE_CACHE: compileCache(), ...env, ...process.env, NODE_OPTIONS });

function choose(file, [name = '', ...rest]) {
  const programs = JSON.parse(readFileSync(file, 'utf8'));
  // If the first word is an option, it belongs to the program without a name.
  const isNamed = !name.startsWith('-');
  const program = programs[isNamed ? name : ''];
  if (program !== undefined) {
    return { args: [...program.args, ...(isNamed ? rest : [name, ...rest]).filter(Boolean)], env: program.env ?? {} };
  }
  console.error(name === '' || !isNamed ? 'A name is needed:' : `There is no "${name}":`);
  for (const [known, { about }] of Object.entries(programs)) {
    if (known !== '') console.error(`  ${known.padEnd(12)}  ${about}`);
  }
  process.exit(1);
}

function runInPlace(node, args, env) {
  // npm has already put this directory on the PATH, but a shell that runs this file directly has not.
  const bin = dirname(node);
  const path = (env.PATH ?? '').split(delimiter);
  if (!path.includes(bin)) env.PATH = [bin, ...path].join(delimiter);
  // In Node 22.15 and later, the process becomes the program.
  if (process.execve) process.execve(node, [node, ...args], env);
  runAsChild(node, args, env);
}

function runAsChild(node, args, env) {
  const child = spawn(node, args, { env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
