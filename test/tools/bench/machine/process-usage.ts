import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Returns the bytes of the whole machine's kernel memory for connections: TCP's buffers (/proc/net/sockstat); and
 * sockets, descriptors and the like (Slab of /proc/meminfo).
 */
export function kernelMemory() {
  const pages = Number(/^TCP:.* mem (\d+)/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1] ?? 0);
  return { tcpBuffers: pages * 4_096, slab: bytesIn('/proc/meminfo', 'Slab') };
}

/** The CPU milliseconds of a process's threads so far, by thread id. */
type ThreadTimes = ReadonlyMap<string, number>;

/**
 * Reads the times from the scheduler, which counts in nanoseconds. A short round of a process that does little, such as
 * Redis, would take less than one tick of /proc/PID/stat. Throws if the kernel does not keep these times.
 */
export function threadTimes(pid: number): ThreadTimes {
  const directory = `/proc/${pid}/task`;
  const times = new Map(
    readdirSync(directory).flatMap((thread) => {
      try {
        return [[thread, Number.parseInt(readFileSync(`${directory}/${thread}/schedstat`, 'utf8'), 10) / 1e6] as const];
      } catch {
        return []; // the thread has ended since the directory was read
      }
    }),
  );
  if (!times.get(String(pid))) throw new Error(`${directory} has no scheduler statistics: does the kernel keep them?`);
  return times;
}

function usedBetween(before: ThreadTimes, after: ThreadTimes): number {
  return [...after].reduce((sum, [thread, ms]) => sum + ms - (before.get(thread) ?? 0), 0);
}

/**
 * Starts to count, and returns a function that returns the processes' CPU milliseconds since then, without threads that
 * have ended.
 */
export function countCpu(pids: readonly number[]): () => number {
  const before = pids.map((pid) => ({ pid, times: threadTimes(pid) }));
  return () => before.reduce((sum, { pid, times }) => sum + usedBetween(times, threadTimes(pid)), 0);
}

const settledShare = 0.003;
const lookMs = 2_000;
const maxMs = 30_000;

/**
 * Waits until the processes' memory changes by less than 0.3 % in 4 s, or for half a minute. Returns the sum of their
 * memory.
 */
export async function settledBytes(pids: readonly number[]): Promise<number> {
  const sum = () => pids.reduce((bytes, pid) => bytes + bytesIn(`/proc/${pid}/status`, 'VmRSS'), 0);
  const end = performance.now() + maxMs;
  const seen = [sum()];
  for (;;) {
    await delay(lookMs);
    seen.push(sum());
    const recent = seen.slice(-3);
    const spread = Math.max(...recent) - Math.min(...recent);
    const isSettled = recent.length === 3 && spread < settledShare * Math.max(...recent);
    if (isSettled || performance.now() > end) return seen.at(-1) ?? 0;
  }
}

/** Returns the bytes that a file such as /proc/PID/status has under this name. `VmRSS` is the resident memory. */
export function bytesIn(file: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1];
  if (found === undefined) throw new Error(`${file} has no ${name}`);
  return Number(found) * 1_024;
}

const arenaBytes = 2 ** 26;

/**
 * Returns the bytes that glibc's malloc has of the kernel: the main thread's heap, and the other threads' arenas. Each
 * of these is a part in use and a part without rights, 64 MiB together (malloc(3), mallopt(3)).
 */
export function mallocBytes(pid: number): number {
  const mappings = readFileSync(`/proc/${pid}/smaps`, 'utf8').split(/^(?=[\da-f]+-[\da-f]+ )/m);
  const places = mappings.map((mapping) => {
    const [, from, to, rights, name] = /^(\w+)-(\w+) (\S+) \S+ \S+ \S+ *(.*)$/m.exec(mapping) ?? [];
    return { from: Number(`0x${from}`), to: Number(`0x${to}`), rights, name };
  });
  const isArena = (index: number) => {
    const [begin, end] = [places[index], places[index + 1]];
    if (begin?.rights !== 'rw-p' || end?.rights !== '---p' || begin.from % arenaBytes !== 0) return false;
    return end.from === begin.to && end.to === begin.from + arenaBytes;
  };
  const own = mappings.filter((_, index) => places[index]?.name === '[heap]' || isArena(index));
  return own.reduce((sum, mapping) => sum + Number(/^Rss:\s+(\d+) kB/m.exec(mapping)?.[1] ?? 0) * 1_024, 0);
}
