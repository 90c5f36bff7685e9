import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openGatewayFixture } from '../../../support/gateway/gateway-fixture.ts';
import { gatewayEnvironment } from '../../../support/service-environment.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { type Commander, startCommander } from './commander.ts';
import { type LoadClient, startLoadClient } from './load-client.ts';
import { type MintedSessions, mintedTokenSeconds, mintSessions } from './mint-sessions.ts';
import { type Percentiles, percentilesOf, rounded } from './percentiles.ts';
import { countCpu, kernelMemory, settledBytes } from './process-usage.ts';
import { type ServerProcess, startServer } from './server-process.ts';

interface MeasureOptions {
  /** Rising numbers of open streams at which memory is measured. */
  readonly sizes: readonly number[];
  readonly log: (line: string) => void;
}

/** The result with `streams` open streams. */
export interface Level {
  readonly streams: number;
  /** Memory in user space, minus that of the process without streams. */
  readonly bytesPerStream: number;
  /** Kernel memory for both ends of the connection, because both are on this machine. */
  readonly kernelBytesPerConnection: { readonly tcpBuffers: number; readonly slab: number };
  /** Rate at which the streams since the last level were opened. */
  readonly handshakesPerSecond: number;
  readonly openingSeconds: number;
  readonly cpuMsPerHandshake: number;
  /** Time from the command to the close frame, with four commands in flight. The closed streams are opened again. */
  readonly commandToClose: Percentiles;
}

export interface StreamsResult {
  readonly emptyMiB: number;
  readonly levels: readonly Level[];
  /** Share of one core while idle. */
  readonly idleCpuPercent: number;
  /** Time from the message to its frame, over all streams of the group. */
  readonly broadcast: Percentiles & { readonly groupSize: number };
  /** Number of streams that ended without a command. */
  readonly lost: number;
}

const handshakesInFlight = 256;
const warmUpStreams = 1_000;
const closesInFlight = 4;
const maxCloses = 1_000;
const broadcasts = 20;
const idleMs = 10_000;

const common = { PATH: process.env.PATH, NODE_ENV: 'production' };
const gatewayMain = fileURLToPath(new URL('../../../../services/push-gateway/src/main.ts', import.meta.url));
const commanderMain = fileURLToPath(new URL('./commander-main.ts', import.meta.url));

/** Starts a gateway and a client, opens streams level by level, measures, and ends both. */
export async function measureStreams({ sizes, log }: MeasureOptions): Promise<StreamsResult> {
  const directory = await mkdtemp(join(tmpdir(), 'push-bench-'));
  const fixture = await openGatewayFixture();
  const endings: (() => Promise<void>)[] = [() => rm(directory, { recursive: true }), () => fixture.close()];
  const ending = async <T extends { end(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    endings.push(() => started.end());
    return started;
  };
  try {
    const env = { ...common, ...gatewayEnvironment(fixture.env) };
    const minted = await mintSessions(fixture.env.ACCESS_TOKEN_KEYS_FILE ?? '', sizes.at(-1) ?? 0, directory);
    const server = await ending(startGateway(env));
    const client = await ending(startLoadClient({ sessions: minted.file, network: 1 }));
    const commander = await ending(startCommander(commanderMain, env));
    await warmUp(server, await startLoadClient({ sessions: minted.file, network: 2 }), sizes);
    return await measure({ sizes, log, minted, server, client, commander });
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

function startGateway(env: NodeJS.ProcessEnv): Promise<ServerProcess> {
  return startServer({
    command: [process.execPath, gatewayMain],
    env: {
      PUSH_PORT: '0',
      PUSH_OPS_PORT: '0',
      MAX_STREAMS_PER_GROUP: '100000',
      HANDSHAKE_LIMIT_PER_ADDRESS: '10000000',
      ACCESS_TOKEN_MAX_TTL_SECONDS: String(mintedTokenSeconds),
      ...env,
    },
    listening: /"port":(\d+)[^\n]*"push gateway listens"/,
  });
}

/**
 * Opens streams at the server, and ends them with their client. Otherwise a process would still have the garbage of
 * its start in memory, which is only collected when streams come, and would be larger without streams than with them.
 */
async function warmUp({ port }: ServerProcess, client: LoadClient, sizes: readonly number[]): Promise<void> {
  try {
    await client.open({ port, from: 0, to: Math.min(warmUpStreams, sizes[0] ?? 0), inFlight: handshakesInFlight });
  } finally {
    await client.end();
  }
}

interface Running extends MeasureOptions {
  readonly minted: MintedSessions;
  readonly server: ServerProcess;
  readonly client: LoadClient;
  readonly commander: Commander;
}

async function measure(running: Running): Promise<StreamsResult> {
  const { server, client, sizes, log } = running;
  const pids = [server.pid];
  const empty = await settledBytes(pids);
  const kernel = kernelMemory();
  const levels: Level[] = [];
  for (const size of sizes) {
    const opening = await openMore(running, levels.at(-1)?.streams ?? 0, size);
    const bytes = (await settledBytes(pids)) - empty;
    const now = kernelMemory();
    levels.push({
      streams: size,
      bytesPerStream: Math.round(bytes / size),
      kernelBytesPerConnection: {
        tcpBuffers: Math.round((now.tcpBuffers - kernel.tcpBuffers) / size),
        slab: Math.round((now.slab - kernel.slab) / size),
      },
      ...opening,
      commandToClose: await measureCloses(running, size),
    });
    log(`  ${JSON.stringify(levels.at(-1))}`);
  }
  const idleCpuPercent = await measureIdleCpu(pids);
  const broadcast = await measureBroadcast(running);
  return { emptyMiB: rounded(empty / 2 ** 20), levels, idleCpuPercent, broadcast, lost: client.lost() };
}

/** Opens the streams of the sessions from `from` on until there are `to`. */
async function openMore({ server, client }: Running, from: number, to: number) {
  const usedMs = countCpu([server.pid]);
  const { begunAt, endedAt } = await client.open({ port: server.port, from, to, inFlight: handshakesInFlight });
  const seconds = (endedAt - begunAt) / 1_000;
  return {
    handshakesPerSecond: Math.round((to - from) / seconds),
    openingSeconds: rounded(seconds),
    cpuMsPerHandshake: rounded(usedMs() / (to - from)),
  };
}

/**
 * Closes the newest of the `streams`, at most half of them, with some commands in flight, and opens them again. Returns
 * the times from the command in the publisher's process to the close frame at the client.
 */
async function measureCloses({ client, server, commander, minted }: Running, streams: number): Promise<Percentiles> {
  const count = Math.min(maxCloses, Math.floor(streams / 2));
  const from = streams - count;
  const latencies: number[] = [];
  await runAtOnce({ count, atOnce: closesInFlight }, async (index) => {
    const closed = client.closed(from + index);
    const { sessionId = '' } = minted.sessions[from + index] ?? {};
    const [{ at }, begun] = await Promise.all([closed, commander.close(sessionId)]);
    latencies.push(at - begun);
  });
  await client.open({ port: server.port, from, to: streams, inFlight: closesInFlight });
  return percentilesOf(latencies);
}

async function measureIdleCpu(pids: readonly number[]): Promise<number> {
  const usedMs = countCpu(pids);
  await delay(idleMs);
  return rounded((usedMs() / idleMs) * 100);
}

async function measureBroadcast({ client, commander, minted, sizes }: Running) {
  const { groupId } = minted;
  const groupSize = Math.min(minted.groupSize, sizes.at(-1) ?? 0);
  const latencies: number[] = [];
  for (let round = 0; round < broadcasts; round += 1) {
    const awaiting = await client.awaitMessages(groupSize);
    const begun = await commander.broadcast(groupId, { item_id: 'milk', quantity: round });
    latencies.push(...(await awaiting.times).map((at) => at - begun));
  }
  return { ...percentilesOf(latencies), groupSize };
}
