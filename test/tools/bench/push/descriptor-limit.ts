import { readFile } from 'node:fs/promises';

/** Descriptors that a process needs besides its streams', for files, timers and connections to Redis. */
const otherDescriptors = 200;

/** Returns the number of streams that one process may hold here (`ulimit -n`). */
export async function maxStreamsPerProcess(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]) - otherDescriptors;
}
