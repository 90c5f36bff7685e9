import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { startTestServers } from '../../support/stores/start-test-servers.ts';
import { costText } from './cost/cost-table.ts';
import { measureOperations, rounds, type StartCandidate } from './cost/measure-operations.ts';
import { findOperations, measuringOrder } from './cost/operations.ts';
import { apiOf, barePrototype, type CandidatePlan, project, startOwnCandidate } from './cost/own-candidate.ts';
import { loadOf } from './cost/rounds.ts';
import { otherUse, readCpuCounters, waitForQuiet } from './machine/cpu-counters.ts';
import { roomyCacheMib, setMongoCache } from './machine/mongo.ts';

/**
 * `npm run bench cost [-- options]`: measures the CPU milliseconds of the api, of MongoDB and of Redis for one
 * operation. A bare prototype, which does the same without validation, limits and logs, and a bare Argon2id hash are
 * measured in turns with the api. Rounds count only when the operation's cost at a server no longer changes. CPU time
 * is counted by process (proc(5)). It prints the medians of the rounds, and the cost of the first operations of a new
 * process.
 *
 * - `--rounds N`: rounds that count, for each operation at each server (21)
 * - `--count N`: operations in a round without hashes (300); a round with hashes has a tenth of them, one after another
 * - `--only LIST`: the operations to measure, of session-read, refresh, logout, register and login
 * - `--against DIRECTORY`: measures the api of another checkout too
 * - `--traced`: measures also the api with each request traced, and with one in a hundred traced, beside a collector
 *   that accepts OTLP and does nothing
 * - `--wait SECONDS`: longest wait for a quiet machine (60)
 * - `--no-cold`: leaves out the first operations of new processes
 * - `--profile DIRECTORY`: writes the api's CPU profile there
 */
const { values } = parseArgs({
  allowNegative: true,
  options: {
    rounds: { type: 'string', default: String(rounds) },
    count: { type: 'string', default: '300' },
    only: { type: 'string', default: measuringOrder.join(',') },
    against: { type: 'string' },
    traced: { type: 'boolean', default: false },
    wait: { type: 'string', default: '60' },
    cold: { type: 'boolean', default: true },
    profile: { type: 'string' },
  },
});
const names = findOperations(values.only);
const profiling = values.profile ? ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${values.profile}`] : [];
const collector = values.traced ? await startOtlpReceiver({ keep: false }) : undefined;
const preload = ['--import', resolve(project, 'libs/telemetry/src/preload.ts')];
const traced = (name: string, share: number, endpoint: string): CandidatePlan => ({
  ...apiOf(name, project, preload),
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(share),
  },
});
const plans: CandidatePlan[] = [
  apiOf('api'),
  ...(collector ? [traced('api, 1 in 100 traced', 0.01, collector.url), traced('api, traced', 1, collector.url)] : []),
  ...(values.against ? [apiOf('api of the other checkout', resolve(values.against))] : []),
  barePrototype,
];
const log = (line: string) => console.error(line);

const servers = await startTestServers();
try {
  await setMongoCache(servers.mongo.uri, roomyCacheMib);
  const { waitedSeconds, isQuiet } = await waitForQuiet(Number(values.wait), log);
  log(`${isQuiet ? 'quiet' : 'not quiet'} after ${waitedSeconds.toFixed(0)} s`);
  const machine = readCpuCounters();
  const starts = plans.map((plan): StartCandidate => {
    const profiled = plan.name === 'api' ? { ...plan, nodeArguments: profiling } : plan;
    return (isCold) => startOwnCandidate(isCold ? plan : profiled, servers);
  });
  const costs = await measureOperations(starts, servers, {
    names,
    rounds: Number(values.rounds),
    load: (name) => loadOf(name, Number(values.count)),
    hasCold: values.cold,
    log,
  });
  const { others, stolen } = otherUse(machine, readCpuCounters());
  console.log(costText(costs));
  console.log(`\nOthers used ${others.toFixed(2)} cores meanwhile, the hypervisor took ${stolen.toFixed(2)}.`);
} finally {
  await servers.stop();
  await collector?.close();
}
