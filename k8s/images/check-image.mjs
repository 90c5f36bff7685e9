import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * check-image.mjs DIST [PACKAGE...]: the last step of each image's build, on the image's own platform. Imports the packages
 * that a service imports late or as a fallback, and starts the service without its configuration, which imports the
 * other modules and native binaries, those of tracing too (with an exporter that is named, else the preload loads none).
 * It must end with 78; a tool, which has no preload, shows its help. This fills V8's compile cache, in the name of the
 * service's user: its id is part of a cache's name.
 */
const [dist, ...packages] = process.argv.slice(2);
const cache = process.env.NODE_COMPILE_CACHE;
const user = 10001;

function run(args, expected) {
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'otlp' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8', uid: user, gid: user });
  if (status === expected) return;
  console.error(`${stdout}${stderr}\nnode ${args.join(' ')}: ended with ${status} in place of ${expected}`);
  process.exitCode = 1;
}

mkdirSync(cache, { recursive: true });
chownSync(cache, user, user);
const imports = packages.map((name) => `await import(${JSON.stringify(name)});`).join('\n');
run(['--input-type=module', '--eval', imports], 0);
if (existsSync(`${dist}/preload.js`)) run(['--import', `./${dist}/preload.js`, `${dist}/main.js`], 78);
else run([`${dist}/main.js`, '--help'], 0);

// Only read from now on.
const files = readdirSync(cache, { recursive: true, withFileTypes: true });
if (!files.some((file) => file.isFile())) throw new Error(`${cache} is empty`);
for (const path of [cache, ...files.map(({ parentPath, name }) => join(parentPath, name))]) {
  chownSync(path, 0, 0);
  chmodSync(path, 0o555);
}
