import { spawnSync } from 'node:child_process';

/**
 * check-image.mjs MAIN [PACKAGE...]: the last step of each image's build, on the image's own platform. Imports the packages
 * that a service imports late or as a fallback, and starts the service without its configuration, which imports the other
 * modules and native binaries, those of tracing too (with an exporter that is named, else the preload loads none). It must
 * end with 78.
 */
const [main, ...packages] = process.argv.slice(2);

function run(args, expected) {
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'otlp' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status === expected) return;
  console.error(`${stdout}${stderr}\nnode ${args.join(' ')}: ended with ${status} in place of ${expected}`);
  process.exitCode = 1;
}

const imports = packages.map((name) => `await import(${JSON.stringify(name)});`).join('\n');
run(['--input-type=module', '--eval', imports], 0);
run(['--import', '@auth-account/telemetry/preload', main], 78);
