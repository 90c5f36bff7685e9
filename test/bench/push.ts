import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestServers } from '@auth-account/local-stack';
import { openGatewayScene } from '../support/gateway-scene.ts';
import { type CandidateName, candidates } from './push/candidates.ts';
import { type CandidateResult, measureCandidate } from './push/measure-candidate.ts';
import { type LogoutResult, measureLogouts } from './push/measure-logouts.ts';
import { mintSessions } from './push/mint-sessions.ts';
import { candidatesTable, logoutTable } from './push/tables.ts';

/**
 * `npm run bench:push [-- options]`: the push gateway, and ws, socket.io and centrifugo doing the same work, under idle authenticated
 * streams. Every server runs as a process of its own beside one Redis; clients and servers share the machine.
 *
 * - `--connections N`: streams on one process (19,000); memory is read at 5,000, at 10,000 and at N
 * - `--fleet N`: streams over three gateways (50,000)
 * - `--logouts N`: logouts per second at the api, for ten seconds (1,000)
 * - `--only LIST`: of gateway, ws, socket.io, centrifugo, logout, fleet; all but centrifugo unless told otherwise
 * - `--json FILE`: the results too
 *
 * Each process needs a descriptor per stream: `ulimit -n`. The peers are installed once, in test/bench/peers/NAME:
 * `npm ci --ignore-scripts`, or `build.sh` for centrifugo, which wants Go.
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
/** Beside the streams a process has files, timers and connections to Redis. */
const otherDescriptors = 200;

interface Results {
  readonly machine: string;
  readonly candidates: Partial<Record<CandidateName | 'fleet', CandidateResult>>;
  logout?: LogoutResult;
}

async function assertDescriptors(): Promise<void> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
  const most = Math.max(connections, only.includes('fleet') ? Math.ceil(fleet / fleetProcesses) : 0);
  if (most + otherDescriptors > limit) throw new Error(`${most} streams need more descriptors than the ${limit} here`);
}

await assertDescriptors();
const servers = await startTestServers(() => undefined);
process.env.TEST_MONGODB_URI = servers.mongo.uri;
process.env.TEST_REDIS_URL = servers.redis.url;
process.env.TEST_KEYS_DIR = servers.keysDir;
const directory = await mkdtemp(join(tmpdir(), 'push-bench-'));
const results: Results = { machine: `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`, candidates: {} };
try {
  await run();
} finally {
  await rm(directory, { recursive: true });
  await servers.stop();
}

async function run(): Promise<void> {
  const scene = await openGatewayScene();
  const { env } = scene;
  const most = Math.max(names.length > 0 ? connections : 0, only.includes('fleet') ? fleet : 0);
  const minted = await mintSessions(env.ACCESS_TOKEN_KEYS_FILE ?? '', most, directory);
  const log = (line: string) => console.error(line);
  const sizes = [...[5_000, 10_000].filter((size) => size < connections), connections];
  for (const name of names) {
    log(name);
    const options = { minted, env, sizes, processes: 1, log };
    results.candidates[name] = await measureCandidate(candidates[name], options);
  }
  if (only.includes('fleet')) {
    log(`three gateways`);
    const options = { minted, env, sizes: [fleet], processes: fleetProcesses, log };
    results.candidates.fleet = await measureCandidate(candidates.gateway, options);
  }
  await scene.close();
  if (only.includes('logout')) {
    log('logouts');
    results.logout = await measureLogouts({ single: 300, perSecond: Number(values.logouts), seconds: 10, log });
  }
  console.log(results.machine);
  if (Object.keys(results.candidates).length > 0) console.log(candidatesTable(results.candidates));
  if (results.logout) console.log(logoutTable(results.logout));
  if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
}
