import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';

/** A cgroup (version 1) that limits the memory of its processes: above the limit the kernel kills them. */
export interface MemoryCgroup {
  /** Puts a process into the cgroup. The process must not have allocated memory yet. */
  take(pid: number): void;
  /** Returns the highest memory use in MiB, including the kernel's own memory for the processes. */
  peak(): number;
  /** Returns how often a process was killed because memory ran out. */
  kills(): number;
  /** Removes the cgroup, whose processes must have ended. */
  remove(): void;
}

const controller = '/sys/fs/cgroup/memory';
const mib = 1_048_576;

/** Creates a cgroup. Returns undefined if this process may not, or if the machine has version 2 only. */
export function findMemoryCgroup(limitMib: number): MemoryCgroup | undefined {
  const directory = `${controller}/auth-account-flood-${process.pid}`;
  const read = (file: string) => readFileSync(`${directory}/${file}`, 'utf8');
  const write = (file: string, value: number) => writeFileSync(`${directory}/${file}`, String(value));
  try {
    readFileSync(`${controller}/memory.limit_in_bytes`);
    mkdirSync(directory);
  } catch {
    return undefined;
  }
  write('memory.limit_in_bytes', limitMib * mib);
  return {
    take: (pid) => write('cgroup.procs', pid),
    peak: () => Number(read('memory.max_usage_in_bytes')) / mib,
    kills: () => Number(/^oom_kill (\d+)/m.exec(read('memory.oom_control'))?.[1]),
    remove: () => rmdirSync(directory),
  };
}
