import { setTimeout as delay } from 'node:timers/promises';
import { assertInstalled, type Candidate } from './candidates.ts';
import type { Commander } from './commander.ts';
import type { BenchSession } from './dialect.ts';
import { type LoadClient, startLoadClient } from './load-client.ts';
import type { MintedSessions } from './mint-sessions.ts';
import { type Percentiles, percentilesOf, rounded } from './percentiles.ts';
import { countCpu, kernelMemory, settledBytes } from './process-usage.ts';
import type { ServerProcess } from './server-process.ts';

export interface MeasureOptions {
  readonly minted: MintedSessions;
  readonly env: Readonly<Record<string, string>>;
  /** Rising numbers of open streams at which memory is measured. */
  readonly sizes: readonly number[];
  /** Number of server processes, and also of clients. The streams are spread evenly over them. */
  readonly processes: number;
  readonly log: (line: string) => void;
}

/** The result with `streams` open streams. */
export interface Level {
  readonly streams: number;
  /** Memory in user space, minus that of the processes without streams. */
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

export interface CandidateResult {
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
const mostCloses = 1_000;
const broadcasts = 20;
const idleMs = 10_000;

/** Starts the candidate's processes, opens streams level by level, measures, and ends the processes. */
export async function measureCandidate(candidate: Candidate, options: MeasureOptions): Promise<CandidateResult> {
  assertInstalled(candidate);
  const { minted, env, processes } = options;
  const endings: { end(): Promise<void> }[] = [];
  const ending = async <T extends { end(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    endings.push(started);
    return started;
  };
  try {
    const places = Array.from({ length: processes }, (_, index) => index);
    const servers = await Promise.all(places.map(() => ending(candidate.start(env))));
    const settings = { dialect: candidate.dialect, sessions: minted.file };
    const start = (network: number) => ending(startLoadClient({ ...settings, network }));
    const clients = await Promise.all(places.map((place) => start(place + 1)));
    const commander = await ending(candidate.command(env));
    await warmUp({ ...options, servers, client: await startLoadClient({ ...settings, network: processes + 1 }) });
    return await measure({ ...options, servers, clients, commander });
  } finally {
    for (const started of endings.reverse()) await started.end();
  }
}

interface WarmUp extends MeasureOptions {
  readonly servers: readonly ServerProcess[];
  readonly client: LoadClient;
}

/**
 * Opens streams at each server, and ends them with their client. Otherwise a process would still have the garbage of
 * its start in memory, which is only collected when streams come, and would be larger without streams than with them.
 */
async function warmUp({ servers, client, sizes }: WarmUp): Promise<void> {
  try {
    const to = Math.min(warmUpStreams, sizes[0] ?? 0);
    for (const { port } of servers) await client.open({ port, from: 0, to, inFlight: handshakesInFlight });
  } finally {
    await client.end();
  }
}

interface Running extends MeasureOptions {
  readonly servers: readonly ServerProcess[];
  readonly clients: readonly LoadClient[];
  readonly commander: Commander;
}

async function measure(running: Running): Promise<CandidateResult> {
  const { servers, sizes, log } = running;
  const pids = servers.map(({ pid }) => pid);
  const empty = await settledBytes(pids);
  const kernel = kernelMemory();
  const owner: number[] = [];
  const levels: Level[] = [];
  for (const size of sizes) {
    const opening = await openUpTo(running, owner, size);
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
      commandToClose: await measureCloses(running, owner),
    });
    log(`  ${JSON.stringify(levels.at(-1))}`);
  }
  const idleCpuPercent = await measureIdleCpu(pids);
  const broadcast = await measureBroadcast(running, owner);
  const lost = running.clients.reduce((sum, client) => sum + client.lost(), 0);
  return { emptyMiB: rounded(empty / 2 ** 20), levels, idleCpuPercent, broadcast, lost };
}

/** Opens streams until there are `size`. Each client opens its share at its server. */
async function openUpTo({ servers, clients }: Running, owner: number[], size: number) {
  const from = owner.length;
  const share = Math.ceil((size - from) / servers.length);
  const usedMs = countCpu(servers.map(({ pid }) => pid));
  const inFlight = Math.ceil(handshakesInFlight / servers.length);
  const opened = await Promise.all(
    clients.map((client, place) => {
      const first = from + place * share;
      const to = Math.min(size, first + share);
      for (let index = first; index < to; index += 1) owner[index] = place;
      return client.open({ port: requireAt(servers, place).port, from: first, to, inFlight });
    }),
  );
  const begun = Math.min(...opened.map(({ begunAt }) => begunAt));
  const seconds = (Math.max(...opened.map(({ endedAt }) => endedAt)) - begun) / 1_000;
  const count = size - from;
  return {
    handshakesPerSecond: Math.round(count / seconds),
    openingSeconds: rounded(seconds),
    cpuMsPerHandshake: rounded(usedMs() / count),
  };
}

/** Closes the newest streams, at most half of them, and opens them again. */
async function measureCloses(running: Running, owner: readonly number[]): Promise<Percentiles> {
  const { clients, servers, commander, minted } = running;
  const from = owner.length - Math.min(mostCloses, Math.floor(owner.length / 2));
  const indexes = Array.from({ length: owner.length - from }, (_, index) => from + index);
  const clientOf = (index: number) => requireAt(clients, owner[index]);
  const deps = { commander, sessions: minted.sessions, clientOf };
  const latencies = await measureCloseLatency(deps, indexes, closesInFlight);
  for (const [place, of] of Map.groupBy(indexes, (index) => requireAt(owner, index))) {
    const { port } = requireAt(servers, place);
    const last = requireAt(of, of.length - 1);
    await requireAt(clients, place).open({ port, from: requireAt(of, 0), to: last + 1, inFlight: closesInFlight });
  }
  return latencies;
}

async function measureIdleCpu(pids: readonly number[]): Promise<number> {
  const usedMs = countCpu(pids);
  await delay(idleMs);
  return rounded((usedMs() / idleMs) * 100);
}

async function measureBroadcast({ clients, commander, minted }: Running, owner: readonly number[]) {
  const { groupId, groupSize } = minted;
  const members = clients.map((_, place) => owner.slice(0, groupSize).filter((of) => of === place).length);
  const latencies: number[] = [];
  for (let round = 0; round < broadcasts; round += 1) {
    const holding = clients.filter((_, place) => (members[place] ?? 0) > 0);
    const counts = members.filter((count) => count > 0);
    const awaiting = await Promise.all(holding.map((client, place) => client.awaitMessages(requireAt(counts, place))));
    const begun = await commander.broadcast(groupId, { item_id: 'milk', quantity: round });
    const times = (await Promise.all(awaiting.map((client) => client.times))).flat();
    latencies.push(...times.map((at) => at - begun));
  }
  return { ...percentilesOf(latencies), groupSize };
}

function requireAt<T>(list: readonly T[], index: number | undefined): T {
  const found = index === undefined ? undefined : list[index];
  if (found === undefined) throw new RangeError(`there is no ${index}`);
  return found;
}

interface CloseLatencyDeps {
  readonly commander: Commander;
  readonly sessions: readonly BenchSession[];
  /** Returns the client that holds a session. */
  readonly clientOf: (index: number) => LoadClient;
}

/**
 * Measures the time from the command in the publisher's process to the close frame at the client, with `inFlight`
 * commands in flight.
 */
async function measureCloseLatency(
  { commander, sessions, clientOf }: CloseLatencyDeps,
  indexes: readonly number[],
  inFlight: number,
): Promise<Percentiles> {
  const latencies: number[] = [];
  const rest = [...indexes];
  const lane = async () => {
    for (let index = rest.pop(); index !== undefined; index = rest.pop()) {
      const closed = clientOf(index).closed(index);
      const [{ at }, begun] = await Promise.all([closed, commander.close(sessions[index]?.sessionId ?? '')]);
      latencies.push(at - begun);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return percentilesOf(latencies);
}
