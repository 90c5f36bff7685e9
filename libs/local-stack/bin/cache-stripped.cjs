// Every process that run.mjs starts, and each of theirs, requires this file before its program.
const { hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { registerHooks, stripTypeScriptTypes } = require('node:module');
const { fileURLToPath } = require('node:url');

const { NODE_COMPILE_CACHE } = process.env;
const folder = `${NODE_COMPILE_CACHE}/stripped-${process.version}`;

/**
 * Keeps TypeScript sources without their types in the folder of V8's compile cache. Node 22 strips the types in each
 * process anew, and V8 caches only the code of what this function returns. Node 24 needs none of this.
 */
function load(url, context, next) {
  // Node refuses TypeScript in node_modules.
  if (context.format !== 'module-typescript' || url.includes('/node_modules/')) return next(url, context);
  try {
    return { format: 'module', source: stripped(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true };
  } catch {
    // Node's own attempt says what is wrong with the source. Without the cache, it succeeds.
    return next(url, context);
  }
}

function stripped(text) {
  const file = `${folder}/${hash('sha256', text)}`;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const source = quietly(() => stripTypeScriptTypes(text));
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, source);
    renameSync(`${file}.${process.pid}`, file);
    return source;
  }
}

/** Calls a function of Node without the warning that it is experimental. */
function quietly(call) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return call();
  } finally {
    process.emitWarning = emitWarning;
  }
}

if (NODE_COMPILE_CACHE && registerHooks && process.versions.node.startsWith('22.')) registerHooks({ load });
