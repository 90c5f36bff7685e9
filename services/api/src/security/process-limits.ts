import { posix } from 'node:path';

/** The part of the machine that the process may use. */
export interface ProcessLimits {
  /** Can be a fraction. For example, a pod with a CPU limit of 500m has 0.5 cores. */
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface ProcessLimitsSources {
  /** Returns the text of a file; undefined if it does not exist. */
  readonly readText: (path: string) => string | undefined;
  /** The limits of the whole machine, which apply if no cgroup sets lower limits. */
  readonly machine: ProcessLimits;
}

const root = '/sys/fs/cgroup';

/**
 * Reads the limits of the process's cgroup and of all cgroups above it, and returns the smallest. It reads the files of
 * version 2 (`cpu.max`, `memory.max`) and of version 1 (`cpu.cfs_quota_us`, `memory.limit_in_bytes`), if they exist. A
 * container often sees its own cgroup as the root, although `/proc/self/cgroup` names a path that exists only on the
 * host.
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

/**
 * Reads the path of each controller from lines such as `4:cpu,cpuacct:/a/b`. Version 2 has a controller without a name:
 * `0::/a/b`.
 */
function cgroupPaths(text: string): Map<string, string> {
  const entries = text.matchAll(/^\d+:([^:]*):(\/.*)$/gm);
  return new Map(
    Array.from(entries).flatMap(([, names = '', path = '/']) => names.split(',').map((name) => [name, path])),
  );
}

/** Returns the directory and all directories above it. The mount's own directory comes last. */
function upwards(mount: string, path: string): string[] {
  // A path that leads out of the mount belongs to a cgroup namespace of another process.
  const inside = posix.normalize(path).replace(/^(\/\.\.)+/, '') || '/';
  if (inside === '/') return [mount];
  return [`${mount}${inside}`, ...upwards(mount, posix.dirname(inside))];
}

/**
 * Returns the cores of a text such as `200000 100000`, which is a quota and its period in µs. `max` and -1 mean no
 * quota.
 */
function coresOf(text: string | undefined): number | undefined {
  const [quota, period] = (text ?? '').trim().split(/\s+/).map(positive);
  return quota === undefined || period === undefined ? undefined : quota / period;
}

/** Returns a number above zero; undefined for `max`, -1 and no text. */
function positive(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return value > 0 ? value : undefined;
}
