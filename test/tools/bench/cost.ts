import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestServers } from '@auth-account/local-stack';
import type { Candidate } from './cost/candidate.ts';
import { costTable } from './cost/cost-table.ts';
import type { Load } from './cost/measure-operation.ts';
import { measureSideBySide } from './cost/measure-side-by-side.ts';
import { hashedOperations, measuringOrder, type OperationName } from './cost/operations.ts';
import { apiOf, barePrototype, startOwnCandidate } from './cost/own-candidate.ts';

/**
 * `npm run bench cost [-- options]`: CPU milliseconds of the api, of MongoDB and of Redis for one operation, in turns
 * with a bare prototype that does the same without validation, limits and logs, and with one bare Argon2id hash. CPU
 * time is counted by process (proc(5)), so other work on the machine matters little. It prints the medians of the
 * rounds.
 *
 * - `--rounds N`: rounds of each operation at each server, after one for warm-up (5)
 * - `--count N`: operations in a round (1,500; a tenth of it if each needs a hash)
 * - `--at-once N`: operations at once, except those with a hash, which run one after another as the bare hash does (8)
 * - `--only LIST`: operations to measure: session read, refresh, logout, register, login
 * - `--against DIRECTORY`: measures the api of another checkout too
 * - `--profile DIRECTORY`: writes the api's CPU profile there
 * - `--json FILE`: writes the results to the file
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    count: { type: 'string', default: '1500' },
    'at-once': { type: 'string', default: '8' },
    only: { type: 'string', default: measuringOrder.join(',') },
    against: { type: 'string' },
    profile: { type: 'string' },
    json: { type: 'string' },
  },
});
const names = values.only.split(',') as OperationName[];
/** The bare hash runs one at a time too: two at once take more CPU each. */
const loadOf = (name: OperationName): Load =>
  hashedOperations.has(name)
    ? { count: Math.ceil(Number(values.count) / 10), atOnce: 1 }
    : { count: Number(values.count), atOnce: Number(values['at-once']) };

const project = resolve(import.meta.dirname, '../../..');
const profiling = values.profile ? ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${values.profile}`] : [];
const plans = [
  apiOf('api', project, profiling),
  ...(values.against ? [apiOf('api of the other checkout', resolve(values.against))] : []),
  barePrototype,
];

const servers = await startTestServers(() => undefined);
process.env.TEST_MONGODB_URI = servers.mongo.uri;
process.env.TEST_REDIS_URL = servers.redis.url;
process.env.TEST_KEYS_DIR = servers.keysDir;
const candidates: Candidate[] = [];
try {
  for (const plan of plans) candidates.push(await startOwnCandidate(plan, servers));
  const results = await measureSideBySide(candidates, servers, {
    names,
    rounds: Number(values.rounds),
    warmUp: loadOf,
    load: loadOf,
    onOperation: (done) => console.error(costTable(done)),
  });
  console.log(costTable(results));
  if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
} finally {
  for (const candidate of candidates) await candidate.end();
  await servers.stop();
}
