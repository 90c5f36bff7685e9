import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { startWhole } from '../../../support/closing.ts';
import { openGatewayFixture } from '../../../support/gateway/gateway-fixture.ts';
import { gatewayEnvironment } from '../../../support/service-environment.ts';
import { type CalledProcess, openCalls } from '../../process-calls/open-calls.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { countCpu, kernelMemory, settledBytes } from '../machine/process-usage.ts';
import { type ServerProcess, startServer } from '../machine/start-server.ts';
import { type Percentiles, percentilesOf, rounded } from '../report/figures.ts';
import type { CommanderCalls } from './commander-main.ts';
import { type LoadClient, startLoadClient } from './load-client.ts';
import type { BenchSession } from './load-client-main.ts';

export type StreamsResult = Awaited<ReturnType<typeof measureStreams>>;

/** The result with `streams` open streams. */
export type Level = Awaited<ReturnType<typeof measureLevel>>;

const handshakesInFlight = 256;
const warmUpStreams = 1_000;
const closesInFlight = 4;
const maxCloses = 1_000;
const broadcasts = 20;
const largestGroup = 1_000;
const idleMs = 10_000;
/** Descriptors that a process needs besides its streams', for files, timers and connections to Redis. */
const otherDescriptors = 200;
/** Lifetime of the tokens, for the whole benchmark. */
const tokenSeconds = 3 * 60 * 60;

const gatewayMain = fileURLToPath(new URL('../../../../services/push-gateway/src/main.ts', import.meta.url));
const commanderMain = fileURLToPath(new URL('./commander-main.ts', import.meta.url));

/** Sessions of which the first `groupSize` are in one group, and each other one in its own. */
interface MintedSessions {
  readonly sessions: readonly BenchSession[];
  readonly groupId: string;
  readonly groupSize: number;
}

interface Running extends MintedSessions {
  readonly server: ServerProcess;
  readonly client: LoadClient;
  /** A process that publishes commands and messages over Redis, as another service would. */
  readonly commander: CalledProcess<CommanderCalls>;
}

/** Starts a gateway and a client, opens the rising numbers of streams, measures at each, and ends both. */
export async function measureStreams(wanted: readonly number[], log: (line: string) => void) {
  const limit = await maxStreamsPerProcess();
  const sizes = wanted.filter((size) => size <= limit);
  const running = await startWhole(async (endings) => {
    const fixture = await openGatewayFixture();
    endings.push(fixture.close);
    const env = gatewayEnvironment(fixture.env);
    const minted = await mintSessions(fixture.env.ACCESS_TOKEN_KEYS_FILE ?? '', sizes.at(-1) ?? 0);
    const server = await startGateway(env);
    endings.push(() => server.end());
    await warmUp(server, minted.sessions.slice(0, Math.min(warmUpStreams, sizes[0] ?? 0)));
    const client = startLoadClient();
    endings.push(client.close);
    const commander = openCalls<CommanderCalls>(process.execPath, [commanderMain], { env });
    endings.push(commander.close);
    return { ...minted, server, client, commander };
  });
  try {
    return await measure(running, sizes, log);
  } finally {
    await running.close();
  }
}

/** Returns the number of streams that one process may hold here (`ulimit -n`). */
async function maxStreamsPerProcess(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]) - otherDescriptors;
}

async function mintSessions(keysFile: string, count: number): Promise<MintedSessions> {
  const keys = await loadKeyFile(keysFile);
  const claimed = { issuer: 'https://auth.local', audience: 'food-storage', ttlSeconds: tokenSeconds };
  const sign = createAccessTokenSigner({ keys, ...claimed });
  const [groupId, groupSize] = [randomUUID(), Math.min(largestGroup, Math.floor(count / 2))];
  const sessions = Array.from({ length: count }, (_, index) => {
    const [user_id, device_id, sid] = [randomUUID(), randomUUID(), randomUUID()];
    const home_group_id = index < groupSize ? groupId : randomUUID();
    const claims = { user_id, device_id, home_group_id, sid, account_type: 'OFFICE', ver: 1 } as const;
    return { sessionId: sid, token: sign(claims) };
  });
  return { sessions, groupId, groupSize };
}

function startGateway(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  return startServer([process.execPath, gatewayMain], /"port":(\d+)[^\n]*"push gateway listens"/, {
    NODE_ENV: 'production',
    PUSH_PORT: '0',
    PUSH_OPS_PORT: '0',
    MAX_STREAMS_PER_GROUP: '100000',
    HANDSHAKE_LIMIT_PER_ADDRESS: '10000000',
    ACCESS_TOKEN_MAX_TTL_SECONDS: String(tokenSeconds),
    ...env,
  });
}

/**
 * Opens streams at the server, and ends them with their client. Otherwise a process would still have the garbage of
 * its start in memory, which is only collected when streams come, and would be larger without streams than with them.
 */
async function warmUp({ port }: ServerProcess, sessions: readonly BenchSession[]): Promise<void> {
  const client = startLoadClient();
  try {
    await client.call('open', { port, sessions, from: 0, inFlight: handshakesInFlight });
  } finally {
    await client.close();
  }
}

async function measure(running: Running, sizes: readonly number[], log: (line: string) => void) {
  const { server, client } = running;
  const empty = { bytes: await settledBytes([server.pid]), kernel: kernelMemory() };
  const levels: Level[] = [];
  for (const size of sizes) {
    const level = await measureLevel(running, empty, levels.at(-1)?.streams ?? 0, size);
    log(`  ${JSON.stringify(level)}`);
    levels.push(level);
  }
  return {
    levels,
    /** Memory in user space of the process without streams. */
    emptyMiB: rounded(empty.bytes / 2 ** 20),
    /** Share of one core while idle. */
    idleCpuPercent: await measureIdleCpu(server.pid),
    /** Time from the message to its frame, over all streams of the group. */
    broadcast: await measureBroadcast(running),
    /** Number of streams that ended without a command. */
    lost: await client.call('lost'),
  };
}

/** Opens streams until there are `size`, and measures what each takes beyond the process without streams. */
async function measureLevel(
  running: Running,
  empty: { readonly bytes: number; readonly kernel: ReturnType<typeof kernelMemory> },
  from: number,
  size: number,
) {
  const opening = await openMore(running, from, size);
  const bytes = (await settledBytes([running.server.pid])) - empty.bytes;
  const kernel = kernelMemory();
  return {
    streams: size,
    bytesPerStream: Math.round(bytes / size),
    /** Kernel memory for both ends of the connection, because both are on this machine. */
    kernelBytesPerConnection: {
      tcpBuffers: Math.round((kernel.tcpBuffers - empty.kernel.tcpBuffers) / size),
      slab: Math.round((kernel.slab - empty.kernel.slab) / size),
    },
    ...opening,
    commandToClose: await measureCloses(running, size),
  };
}

/** Opens the streams of the sessions from `from` on until there are `to`. */
async function openMore({ server: { pid, port }, client, sessions }: Running, from: number, to: number) {
  const usedMs = countCpu([pid]);
  const order = { port, sessions: sessions.slice(from, to), from, inFlight: handshakesInFlight };
  const { begunAt, endedAt } = await client.call('open', order);
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
async function measureCloses({ client, server, commander, sessions }: Running, streams: number): Promise<Percentiles> {
  const count = Math.min(maxCloses, Math.floor(streams / 2));
  const from = streams - count;
  const closing = sessions.slice(from, streams);
  const latencies: number[] = [];
  await runAtOnce({ count, atOnce: closesInFlight }, async (index) => {
    const begun = commander.call('close', closing[index]?.sessionId ?? '');
    const [{ at }, begunAt] = await Promise.all([client.call('closed', from + index), begun]);
    latencies.push(at - begunAt);
  });
  await client.call('open', { port: server.port, sessions: closing, from, inFlight: closesInFlight });
  return percentilesOf(latencies);
}

async function measureIdleCpu(pid: number): Promise<number> {
  const usedMs = countCpu([pid]);
  await delay(idleMs);
  return rounded((usedMs() / idleMs) * 100);
}

async function measureBroadcast({ client, commander, groupId, groupSize }: Running) {
  const latencies: number[] = [];
  for (let round = 0; round < broadcasts; round += 1) {
    await client.call('awaitMessages', groupSize);
    const begun = await commander.call('broadcast', groupId, { item_id: 'milk', quantity: round });
    const times = await client.call('messageTimes');
    latencies.push(...times.map((at) => at - begun));
  }
  return { ...percentilesOf(latencies), groupSize };
}
