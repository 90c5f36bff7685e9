import { posix } from 'node:path';

/** The part of the machine that the process may use. */
export interface ProcessLimits {
  /** Can be a fraction: a pod with a CPU limit of 500m has 0.5. */
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface ProcessLimitsSources {
  /** Returns the text of a file, undefined if it is not there. */
  readonly readText: (path: string) => string | undefined;
  /** The whole machine, which applies if no cgroup limits it. */
  readonly machine: ProcessLimits;
}

const root = '/sys/fs/cgroup';

/**
 * Reads the limits of the process's cgroup and of those above it, and returns the smallest: version 2 (`cpu.max`,
 * `memory.max`), else version 1 (`cpu.cfs_quota_us`, `memory.limit_in_bytes`). In a container, its own cgroup is often
 * the root of what it sees, although `/proc/self/cgroup` names a path that only the host has.
 */
export function readProcessLimits({ readText, machine }: ProcessLimitsSources): ProcessLimits {
  const paths = cgroupPaths(readText('/proc/self/cgroup') ?? '');
  const smallest = (largest: number, limits: readonly (number | undefined)[]) =>
    Math.min(largest, ...limits.filter((limit) => limit !== undefined));
  const unified = upwards(root, paths.get('') ?? '/');
  const cpu = upwards(`${root}/cpu`, paths.get('cpu') ?? '/');
  const memory = upwards(`${root}/memory`, paths.get('memory') ?? '/');

  return {
    cores: smallest(machine.cores, [
      ...unified.map((directory) => coresOf(readText(`${directory}/cpu.max`))),
      ...cpu.map((directory) => {
        const quota = readText(`${directory}/cpu.cfs_quota_us`);
        return coresOf(`${quota?.trim()} ${readText(`${directory}/cpu.cfs_period_us`)}`);
      }),
    ]),
    memoryBytes: smallest(machine.memoryBytes, [
      ...unified.map((directory) => positive(readText(`${directory}/memory.max`))),
      ...memory.map((directory) => positive(readText(`${directory}/memory.limit_in_bytes`))),
    ]),
  };
}

/** Controller → path, from lines such as `4:cpu,cpuacct:/a/b`; version 2 is the one without a name: `0::/a/b`. */
function cgroupPaths(text: string): Map<string, string> {
  const entries = text.matchAll(/^\d+:([^:]*):(\/.*)$/gm);
  return new Map(
    Array.from(entries).flatMap(([, names = '', path = '/']) => names.split(',').map((name) => [name, path])),
  );
}

/** Returns the directory and all those above it, the mount's own last. */
function upwards(mount: string, path: string): string[] {
  // A path that leads out of the mount belongs to a cgroup namespace of another process.
  const inside = posix.normalize(path).replace(/^(\/\.\.)+/, '') || '/';
  if (inside === '/') return [mount];
  return [`${mount}${inside}`, ...upwards(mount, posix.dirname(inside))];
}

/** `200000 100000`: quota and period in µs. `max` and -1: no quota. */
function coresOf(text: string | undefined): number | undefined {
  const [quota, period] = (text ?? '').trim().split(/\s+/).map(positive);
  return quota === undefined || period === undefined ? undefined : quota / period;
}

/** Returns a number above zero; undefined for `max`, -1 and no text. */
function positive(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return value > 0 ? value : undefined;
}
