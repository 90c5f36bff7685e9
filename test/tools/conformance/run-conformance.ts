import { spawnSync } from 'node:child_process';
import { startTestServers } from '../../support/stores/start-test-servers.ts';
import { runSchemathesis } from './run-schemathesis.ts';

/**
 * `npm run test:long conformance`: runs schemathesis against a separate api, then the property test of bodies in its
 * long form. Exits with 1 if either finds a fault, or if schemathesis tried fewer cases than required.
 */

const leastCases = 20_000;

const servers = await startTestServers((line) => console.error(line));
const { cases, failures, errors } = await runSchemathesis().finally(() => servers.stop());
console.log(`schemathesis: ${cases} cases of at least ${leastCases}, ${failures} failures, ${errors} errors`);
const isConform = failures === 0 && errors === 0 && cases >= leastCases;

const jest = [
  'node_modules/jest/bin/jest.js',
  '--config',
  'test/jest.config.js',
  '--runInBand',
  'test/tools/conformance',
];
const env = { ...process.env, CONFORMANCE_BODIES: '6250' };
const { status } = spawnSync(process.execPath, jest, { env, stdio: 'inherit' });
console.log(
  `Conformance: schemathesis ${isConform ? 'passed' : 'failed'}, the bodies ${status === 0 ? 'passed' : 'failed'}`,
);
process.exitCode = isConform && status === 0 ? 0 : 1;
