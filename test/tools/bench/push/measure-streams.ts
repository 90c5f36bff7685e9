import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { countCpu, kernelMemory, settledBytes } from '../machine/process-usage.ts';
import { canHold } from '../machine/start-server.ts';
import { percentilesOf, rounded } from '../report/figures.ts';
import { measureIncidents } from './measure-incidents.ts';
import { measureCloses, openMore, openStreamBed, type StreamBed } from './stream-bed.ts';

export type StreamsResult = Awaited<ReturnType<typeof measureStreams>>;

/** The result with `streams` open streams. */
export type Level = Awaited<ReturnType<typeof measureLevel>>;

const broadcasts = 20;
const largestGroup = 1_000;
const idleMs = 60_000;
interface Plan {
  readonly sizes: readonly number[];
  /** A group whose streams are among the first ones; each other stream is in a group of its own. */
  readonly group: { readonly id: string; readonly size: number };
  readonly log: (line: string) => void;
}

/** Opens rising numbers of streams at a gateway, as far as this machine allows, and measures at each. */
export async function measureStreams(wanted: readonly number[], log: (line: string) => void) {
  const sizes = wanted.filter(canHold);
  if (sizes.length < wanted.length)
    log('left out: sizes for which a process may not open enough files here (ulimit -Hn)');
  const streams = sizes.at(-1) ?? 0;
  const group = { id: randomUUID(), size: Math.min(largestGroup, Math.floor(streams / 2)) };
  const bed = await openStreamBed(streams, (index) => (index < group.size ? group.id : randomUUID()));
  try {
    return await measure(bed, { sizes, group, log });
  } finally {
    await bed.close();
  }
}

async function measure(bed: StreamBed, { sizes, group, log }: Plan) {
  const { server, client } = bed;
  const empty = { bytes: await settledBytes([server.pid]), kernel: kernelMemory() };
  const levels: Level[] = [];
  for (const size of sizes) {
    const level = await measureLevel(bed, empty, levels.at(-1)?.streams ?? 0, size);
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
    broadcast: await measureBroadcast(bed, group),
    /** Number of streams that ended without a command. */
    lost: await client.call('lost'),
    incidents: await measureIncidents(bed, sizes.at(-1) ?? 0),
  };
}

/** Opens streams until there are `size`, and measures what each takes beyond the process without streams. */
async function measureLevel(
  bed: StreamBed,
  empty: { readonly bytes: number; readonly kernel: ReturnType<typeof kernelMemory> },
  from: number,
  size: number,
) {
  const opening = await openMore(bed, from, size);
  const bytes = (await settledBytes([bed.server.pid])) - empty.bytes;
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
    commandToClose: await measureCloses(bed, size),
  };
}

async function measureIdleCpu(pid: number): Promise<number> {
  const usedMs = countCpu([pid]);
  await delay(idleMs);
  return rounded((usedMs() / idleMs) * 100);
}

async function measureBroadcast({ client, commander }: StreamBed, group: Plan['group']) {
  const latencies: number[] = [];
  for (let round = 0; round < broadcasts; round += 1) {
    await client.call('awaitMessages', group.size);
    const begun = await commander.call('broadcast', group.id, { item_id: 'milk', quantity: round });
    const times = await client.call('messageTimes');
    latencies.push(...times.map((at) => at - begun));
  }
  return { ...percentilesOf(latencies), groupSize: group.size };
}
