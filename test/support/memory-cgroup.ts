import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';

/** A cgroup (version 1) that holds its processes to so much memory: past it the kernel kills them. */
export interface MemoryCgroup {
  /** Puts a process in it, before that has taken memory. */
  take(pid: number): void;
  /** The most memory that was in use at once, in MiB, the kernel's own for the processes included. */
  peak(): number;
  /** How often memory ran out so that a process was killed. */
  kills(): number;
  /** Removes it; its processes must have ended. */
  remove(): void;
}

const controller = '/sys/fs/cgroup/memory';
const mib = 1_048_576;

/** Makes one; undefined where this process may not, or where the machine has version 2 only. */
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
