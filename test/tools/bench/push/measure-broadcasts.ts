import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { countCpu } from '../machine/process-usage.ts';
import { type Percentiles, rounded } from '../report/figures.ts';
import { openMore, openStreamBed, type StreamBed } from './stream-bed.ts';

/** The highest rate of messages at which the frames were in time. */
export interface BroadcastLevel {
  readonly groups: number;
  readonly groupSize: number;
  readonly messagesPerSecond: number;
  readonly framesPerSecond: number;
  /** From a message's publication to its frame at the client. */
  readonly delay: Percentiles;
  /** Of the gateway, while the messages came. */
  readonly cpuPercent: number;
}

/** Groups, streams in each, and the rate of messages a second with which the search begins. */
const shapes = [
  { groups: 1, groupSize: 1_000, perSecond: 10 },
  { groups: 1_000, groupSize: 4, perSecond: 1_000 },
] as const;
const step = 1.25;
const seconds = 5;
/** Limit for the delay of 99 frames in 100, in milliseconds. */
export const inTimeMs = 50;

/** Raises the rate of messages to groups until their frames come too late. */
export async function measureBroadcasts(): Promise<BroadcastLevel[]> {
  const groupIds = shapes.map(({ groups }) => Array.from({ length: groups }, () => randomUUID()));
  const owners = shapes.flatMap(({ groupSize }, shape) =>
    (groupIds[shape] ?? []).flatMap((id) => Array.from({ length: groupSize }, () => id)),
  );
  const bed = await openStreamBed(owners.length, (index) => owners[index] ?? '');
  try {
    await openMore(bed, 0, owners.length);
    const levels: BroadcastLevel[] = [];
    for (const [shape, { perSecond, ...sizes }] of shapes.entries()) {
      const best = await findHighest(bed, groupIds[shape] ?? [], perSecond, sizes.groupSize);
      if (best !== undefined) levels.push({ ...sizes, ...best });
    }
    return levels;
  } finally {
    await bed.close();
  }
}

async function findHighest(bed: StreamBed, groups: readonly string[], from: number, groupSize: number) {
  let best: Omit<BroadcastLevel, 'groups' | 'groupSize'> | undefined;
  for (let perSecond = from; ; perSecond *= step) {
    const usedMs = countCpu([bed.server.pid]);
    await bed.client.call('recordDelays');
    const sentPerSecond = await bed.commander.call('flood', { groups, perSecond, seconds });
    await delay(4 * inTimeMs);
    const cpuPercent = rounded(usedMs() / (10 * seconds));
    const frames = await bed.client.call('delays');
    const isWhole = frames.count >= Math.floor(sentPerSecond * seconds) * groupSize;
    if (frames.p99 > inTimeMs || !isWhole) return best;
    const messagesPerSecond = Math.round(sentPerSecond);
    best = { messagesPerSecond, framesPerSecond: messagesPerSecond * groupSize, delay: frames, cpuPercent };
    if (sentPerSecond < perSecond * 0.95) return best;
  }
}
