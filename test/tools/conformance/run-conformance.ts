import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { startTestServers } from '../../support/stores/start-test-servers.ts';
import { runSchemathesis } from './run-schemathesis.ts';

/**
 * `npm run test:long conformance`: runs schemathesis against a separate api, then the property test of bodies in its
 * long form. Exits with 1 if either finds a fault, or if fewer cases were tried than required.
 *
 * `--cases N` sets the generated requests per operation, `--seed N` the seed, `--max-seconds N` the limit for
 * schemathesis, and `--bodies N` the property test's bodies per operation. `--bodies 0` leaves that test out.
 */

const leastCases = 20_000;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    'max-seconds': { type: 'string', default: '900' },
    bodies: { type: 'string', default: '6250' },
  },
});

async function trySchemathesis(): Promise<boolean> {
  const start = performance.now();
  const servers = await startTestServers((line) => console.error(line));
  try {
    const { cases, failures, errors, requests, isBrokenOff } = await runSchemathesis({
      cases: Number(values.cases),
      seed: Number(values.seed),
      maxSeconds: Number(values['max-seconds']),
      log: (line) => console.log(line),
    });
    const seconds = Math.round((performance.now() - start) / 1_000);
    if (isBrokenOff)
      console.log('schemathesis: broken off, as its time was over (--max-seconds); the figures are those so far');
    console.log(
      `schemathesis: ${cases} cases, ${failures} failures, ${errors} errors; ${requests} requests answered; ${seconds} s`,
    );
    if (cases < leastCases) console.log(`schemathesis: fewer than ${leastCases} cases`);
    return !isBrokenOff && failures === 0 && errors === 0 && cases >= leastCases;
  } finally {
    await servers.stop();
  }
}

function tryBodies(count: string): Promise<boolean> {
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.js'];
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const child = spawn(process.execPath, [...jest, '--runInBand', 'test/tools/conformance'], {
    env: { ...process.env, CONFORMANCE_BODIES: count },
    stdio: 'inherit',
  });
  child.once('error', reject);
  child.once('close', (code) => resolve(code === 0));
  return promise;
}

const isConform = await trySchemathesis();
const areBodiesFine = values.bodies === '0' || (await tryBodies(values.bodies));
const verdicts = [
  `schemathesis ${isConform ? 'passed' : 'failed'}`,
  values.bodies === '0' ? 'the bodies were left out' : `the bodies ${areBodiesFine ? 'passed' : 'failed'}`,
];
console.log(`Conformance: ${verdicts.join(', ')}`);
process.exitCode = isConform && areBodiesFine ? 0 : 1;
