import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { startTestServers } from '../../support/stores/start-test-servers.ts';
import type { Candidate } from './cost/candidate.ts';
import { type ColdCost, measureCold } from './cost/cold-cost.ts';
import { costTable } from './cost/cost-table.ts';
import { coldLoad, defaultAtOnce, warmUpLoad } from './cost/loads.ts';
import type { Load } from './cost/measure-operation.ts';
import { measureSideBySide } from './cost/measure-side-by-side.ts';
import { roomyCacheMib, setMongoCache } from './cost/mongo-cache.ts';
import { findOperation, hashedOperations, measuringOrder, type OperationName } from './cost/operations.ts';
import { apiOf, barePrototype, type CandidatePlan, startOwnCandidate } from './cost/own-candidate.ts';
import { otherUse, readCpuCounters } from './quiet/cpu-counters.ts';
import { waitForQuiet } from './quiet/wait-for-quiet.ts';

/**
 * `npm run bench cost [-- options]`: measures the CPU milliseconds of the api, of MongoDB and of Redis for one
 * operation. A bare prototype, which does the same without validation, limits and logs, and a bare Argon2id hash are
 * measured in turns with the api. Rounds count only when the operation's cost at a server no longer changes. CPU time
 * is counted by process (proc(5)). It prints the medians of the rounds, and the cost of the first operations of a new
 * process.
 *
 * - `--rounds N`: rounds that count, for each operation at each server (21)
 * - `--count N`: operations in a round without hashes (300); a round with hashes has a tenth of them
 * - `--at-once N`: operations at once, except those with a hash, which run one after another as the bare hash does (8)
 * - `--only LIST`: the operations to measure, of session-read, refresh, logout, register and login
 * - `--against DIRECTORY`: measures the api of another checkout too
 * - `--traced`: measures also the api with each request traced, and with one in a hundred traced, beside a collector
 *   that accepts OTLP and does nothing
 * - `--wait SECONDS`: longest wait for a quiet machine (60)
 * - `--no-cold`: leaves out the first operations of new processes
 * - `--profile DIRECTORY`: writes the api's CPU profile there
 * - `--json FILE`: writes the results to the file
 */
const { values } = parseArgs({
  allowNegative: true,
  options: {
    rounds: { type: 'string', default: '21' },
    count: { type: 'string', default: '300' },
    'at-once': { type: 'string', default: String(defaultAtOnce) },
    only: { type: 'string', default: measuringOrder.join(',') },
    against: { type: 'string' },
    traced: { type: 'boolean', default: false },
    wait: { type: 'string', default: '60' },
    cold: { type: 'boolean', default: true },
    profile: { type: 'string' },
    json: { type: 'string' },
  },
});
const names = values.only.split(',').map((name) => {
  const found = findOperation(name);
  if (found === undefined) throw new Error(`--only knows ${measuringOrder.join(', ')}, not ${name}`);
  return found;
});
/** Operations with a hash run one at a time, as the bare hash does, because each of two at once takes more CPU. */
const loadOf = (name: OperationName): Load =>
  hashedOperations.has(name)
    ? { count: Math.ceil(Number(values.count) / 10), atOnce: 1 }
    : { count: Number(values.count), atOnce: Number(values['at-once']) };

const project = resolve(import.meta.dirname, '../../..');
const profiling = values.profile ? ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${values.profile}`] : [];
const collector = values.traced ? await startOtlpReceiver({ keep: false }) : undefined;
const preload = ['--import', join(project, 'libs/telemetry/src/preload.ts')];
const traced = (name: string, share: number, endpoint: string): CandidatePlan => ({
  ...apiOf(name, project, preload),
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(share),
  },
});
const plans: CandidatePlan[] = [
  apiOf('api', project),
  ...(collector ? [traced('api, 1 in 100 traced', 0.01, collector.url), traced('api, traced', 1, collector.url)] : []),
  ...(values.against ? [apiOf('api of the other checkout', resolve(values.against))] : []),
  barePrototype,
];
const log = (line: string) => console.error(line);

const servers = await startTestServers();
const candidates: Candidate[] = [];
try {
  await setMongoCache(servers.mongo.uri, roomyCacheMib);
  const { waitedSeconds, isQuiet } = await waitForQuiet(Number(values.wait), log);
  log(`${isQuiet ? 'quiet' : 'not quiet'} after ${waitedSeconds.toFixed(0)} s`);
  const machine = readCpuCounters();
  const colds: ColdCost[] = [];
  for (const plan of values.cold ? plans : []) {
    colds.push(...(await measureCold(() => startOwnCandidate(plan, servers), names, servers, coldLoad)));
  }
  for (const plan of plans) {
    const profiled = plan.name === 'api' ? { ...plan, nodeArguments: profiling } : plan;
    candidates.push(await startOwnCandidate(profiled, servers));
  }
  const results = await measureSideBySide(candidates, servers, {
    names,
    rounds: Number(values.rounds),
    warmUp: warmUpLoad,
    load: loadOf,
    onOperation: (done) => log(costTable(done, colds)),
  });
  const { others, stolen } = otherUse(machine, readCpuCounters());
  console.log(costTable(results, colds));
  console.log(`\nOthers used ${others.toFixed(2)} cores meanwhile, the hypervisor took ${stolen.toFixed(2)}.`);
  if (values.json) await writeFile(values.json, `${JSON.stringify({ ...results, colds }, null, 2)}\n`);
} finally {
  for (const candidate of candidates) await candidate.end();
  await servers.stop();
  await collector?.close();
}
