import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startTestServers } from '../../support/start-test-servers.ts';
import { type CandidateName, candidates } from './push/candidates.ts';
import type { CandidateResult } from './push/measure-candidate.ts';
import { type CandidateRun, measureCandidates } from './push/measure-candidates.ts';
import { type LogoutResult, measureLogouts } from './push/measure-logouts.ts';
import { candidatesTable, logoutTable } from './push/tables.ts';

/**
 * `npm run bench push [-- options]`: measures the push gateway under idle authenticated streams, and ws, socket.io and
 * centrifugo with the same work. Every server is a separate process on the same Redis, and shares the machine with the
 * clients.
 *
 * - `--connections N`: streams on one process (19,000); memory is measured at 5,000, at 10,000 and at N
 * - `--fleet N`: streams over three gateways (50,000)
 * - `--logouts N`: logouts per second at the api, for ten seconds (1,000)
 * - `--only LIST`: the parts to measure, of gateway, ws, socket.io, centrifugo, logout and fleet (all but centrifugo)
 * - `--json FILE`: writes the results to the file
 *
 * Each process needs a descriptor for each stream (`ulimit -n`). A missing peer is installed by the command that the
 * error names.
 */
const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '19000' },
    fleet: { type: 'string', default: '50000' },
    logouts: { type: 'string', default: '1000' },
    only: { type: 'string', default: 'gateway,ws,socket.io,logout,fleet' },
    json: { type: 'string' },
  },
});
const connections = Number(values.connections);
const fleet = Number(values.fleet);
const only = values.only.split(',');
const names = (Object.keys(candidates) as CandidateName[]).filter((name) => only.includes(name));
const fleetProcesses = 3;
interface Results {
  readonly machine: string;
  candidates: Readonly<Record<string, CandidateResult>>;
  logout?: LogoutResult;
}

const servers = await startTestServers(() => undefined);
process.env.TEST_MONGODB_URI = servers.mongo.uri;
process.env.TEST_REDIS_URL = servers.redis.url;
process.env.TEST_KEYS_DIR = servers.keysDir;
const results: Results = { machine: `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`, candidates: {} };
try {
  await run();
} finally {
  await servers.stop();
}

async function run(): Promise<void> {
  const log = (line: string) => console.error(line);
  const sizes = [...[5_000, 10_000].filter((size) => size < connections), connections];
  const runs: CandidateRun[] = names.map((name) => ({ candidate: name, label: name, sizes, processes: 1 }));
  if (only.includes('fleet')) {
    runs.push({ candidate: 'gateway', label: 'fleet', sizes: [fleet], processes: fleetProcesses });
  }
  if (runs.length > 0) results.candidates = await measureCandidates(runs, log);
  if (only.includes('logout')) {
    log('logouts');
    results.logout = await measureLogouts({
      single: 300,
      warmUp: 2_000,
      perSecond: Number(values.logouts),
      seconds: 10,
      log,
    });
  }
  console.log(results.machine);
  if (runs.length > 0) console.log(candidatesTable(results.candidates));
  if (results.logout) console.log(logoutTable(results.logout));
  if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
}
