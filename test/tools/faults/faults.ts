import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleAll } from '../bundle-all.ts';

/**
 * `npm run faults` (docs/testing.md, "Faults") runs the real services, a MongoDB replica set of three and Redis on
 * loopback under a steady load, while one fault follows another. The load's apps remember their answers. Prints each
 * fault with its effect, then the tables, and exits with 1 if a promise was not kept.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    rate: { type: 'string', default: '50' },
    population: { type: 'string', default: '150' },
    'lock-seconds': { type: 'string', default: '60' },
    faults: { type: 'string', default: 'Infinity' },
    only: { type: 'string', default: '' },
    bundles: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The handler stays, because npm forwards a signal that its child has already received.
  process.on(signal, () => {
    if (ending.signal.aborted) return;
    console.error(`${signal}: the fault under way is the last one; what there is until then is checked and reported`);
    ending.abort();
  });
}
if (values.bundles) await bundleAll();
const { runFaults } = await import('./run-faults.ts');
const { violations, faults } = await runFaults({
  seed,
  seconds: Number(values.minutes) * 60,
  rate: Number(values.rate),
  population: Number(values.population),
  lockSeconds: Number(values['lock-seconds']),
  maxFaults: Number(values.faults),
  only: new RegExp(values.only, 'i'),
  logDir: join(root, 'reports', `faults-${seed}`),
  log: (line) => console.log(line),
  signal: ending.signal,
});
if (ending.signal.aborted) console.log(`Broken off after ${faults.length} faults; the figures are those so far`);
process.exitCode = violations.length === 0 && !ending.signal.aborted ? 0 : 1;
