import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runFaults } from './run-faults.ts';

/**
 * `npm run faults [-- --minutes N --seed N --rate N --faults N --only PATTERN --no-install]`: the real services, a MongoDB replica set of three and
 * Redis on loopback, under a steady load of apps that remember what they were told, while one thing after the other
 * breaks: 15 minutes unless told otherwise. Prints each fault with what it cost, then the tables; ends with 1 where a
 * promise was not kept. Seed, history (a JSON object a line), report and the services' logs go to
 * `reports/faults-<seed>`; the same seed repeats the kinds of fault, their order and length, but not what users do,
 * which hangs on the answers that they get.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    /** Things that apps begin to do per second. */
    rate: { type: 'string', default: '50' },
    /** At most so many faults. */
    faults: { type: 'string', default: 'Infinity' },
    /** A regular expression: only kinds of fault whose name it finds. */
    only: { type: 'string', default: '' },
    /** Leaves out what would have to be installed first. */
    'no-install': { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // npm forwards a signal that its child has had already.
  process.on(signal, () => {
    if (ending.signal.aborted) return;
    console.error(`${signal}: the fault under way is the last one; what there is until then is checked and told`);
    ending.abort();
  });
}
const { violations, faults } = await runFaults({
  seed,
  seconds: Number(values.minutes) * 60,
  rate: Number(values.rate),
  most: Number(values.faults),
  only: new RegExp(values.only, 'i'),
  mayInstall: !values['no-install'],
  reportDir: join(root, 'reports', `faults-${seed}`),
  log: (line) => console.log(line),
  signal: ending.signal,
});
if (ending.signal.aborted) console.log(`Broken off after ${faults.length} faults; the figures are those so far`);
process.exitCode = violations === 0 && !ending.signal.aborted ? 0 : 1;
