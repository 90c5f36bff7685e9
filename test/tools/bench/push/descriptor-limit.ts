import { readFile } from 'node:fs/promises';

/** Beside the streams a process has files, timers and connections to Redis. */
const otherDescriptors = 200;

/** How many streams one process may hold here (`ulimit -n`). */
export async function mostStreamsPerProcess(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]) - otherDescriptors;
}
