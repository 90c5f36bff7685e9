import { readdirSync, readFileSync } from 'node:fs';

/** CPU time since the machine started, in milliseconds (proc(5)). */
export interface CpuCounters {
  readonly at: number;
  /** CPU time of all processes and of the kernel, which is all but idle, waiting and stolen time. */
  readonly all: number;
  /** CPU time of this process and of all its descendants, including those that have ended. */
  readonly own: number;
  /** Time that the hypervisor took while a core had work. */
  readonly stolen: number;
}

/** The average number of cores that others used. */
export interface OtherUse {
  readonly others: number;
  readonly stolen: number;
}

/** The CPU time of a process and of those children that have ended. */
export interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  readonly ms: number;
}

/** Linux reports times in hundredths of a second, whatever the rate of its own clock. */
const tickMs = 10;

export function readCpuCounters(): CpuCounters {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)
    .flatMap((line) => line.split(/\s+/).map(Number));
  return {
    at: performance.now(),
    all: (user + nice + system + irq + softirq) * tickMs,
    own: timeBelow(process.pid, readProcessTimes()),
    stolen: steal * tickMs,
  };
}

/**
 * Returns the use by others between two readings. The kernel only samples times, so a difference below zero counts as
 * zero.
 */
export function otherUse(before: CpuCounters, after: CpuCounters): OtherUse {
  const wall = after.at - before.at;
  const of = (ms: number) => Math.max(0, ms) / wall;
  return {
    others: of(after.all - before.all - (after.own - before.own)),
    stolen: of(after.stolen - before.stolen),
  };
}

/** Returns the CPU time of the process `root` and of all its descendants. */
export function timeBelow(root: number, processes: readonly ProcessTime[]): number {
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const sum = (list: readonly ProcessTime[]): number =>
    list.reduce((total, { pid, ms }) => total + ms + sum(children.get(pid) ?? []), 0);
  return sum(processes.filter(({ pid }) => pid === root));
}

/** Reads a line of `/proc/PID/stat`. The process's name, in parentheses, may itself contain spaces and parentheses. */
export function processTimeOf(stat: string): ProcessTime {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number.parseInt(stat, 10), parent: Number(fields[1]), ms: ticks * tickMs };
}

function readProcessTimes(): ProcessTime[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return processTimeOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      } catch {
        // The process has ended since the directory was read, so its parent's line has its time.
        return [];
      }
    });
}
