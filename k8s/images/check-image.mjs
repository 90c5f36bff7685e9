import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

/**
 * check-image.mjs MAIN [PACKAGE...]: the last step of each image's build, on the image's own platform. Loads the native
 * packages that are a fallback, and starts the service without its configuration, which imports every module and native
 * binary, those of tracing too (with an exporter that is named, else the preload loads none). It must end with 78.
 */
const [main, ...packages] = process.argv.slice(2);
const require = createRequire('/app/package.json');
for (const name of packages) require(name);
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  ['--import', '@auth-account/telemetry/preload', main],
  { env: { ...process.env, OTEL_TRACES_EXPORTER: 'otlp' }, encoding: 'utf8' },
);
if (status !== 78) {
  console.error(`${stdout}${stderr}\n${main} ended with ${status} in place of 78`);
  process.exitCode = 1;
}
