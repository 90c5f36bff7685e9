import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export type CpuCounters = ReturnType<typeof readCpuCounters>;

/** The average number of cores that others used. */
export type OtherUse = ReturnType<typeof otherUse>;

export type ProcessTime = ReturnType<typeof processTimeOf>;

/** Linux reports times in hundredths of a second, whatever the rate of its own clock. */
const tickMs = 10;

/** Returns CPU times since the machine started, in milliseconds (proc(5)). */
export function readCpuCounters() {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)
    .flatMap((line) => line.split(/\s+/).map(Number));
  return {
    at: performance.now(),
    /** Of all processes and of the kernel, which is all but idle, waiting and stolen time. */
    all: (user + nice + system + irq + softirq) * tickMs,
    /** Of this process and of all its descendants, including those that have ended. */
    own: timeBelow(process.pid, readProcessTimes()),
    /** Time that the hypervisor took while a core had work. */
    stolen: steal * tickMs,
  };
}

/**
 * Returns the use by others between two readings. The kernel only samples times, so a difference below zero counts as
 * zero.
 */
export function otherUse(before: CpuCounters, after: CpuCounters) {
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

/**
 * Reads from a line of `/proc/PID/stat` the CPU time of a process and of those children that have ended. The process's
 * name, in parentheses, may itself contain spaces and parentheses.
 */
export function processTimeOf(stat: string) {
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

export type QuietWait = Awaited<ReturnType<typeof waitForQuiet>>;

/** The most cores that other processes may use while the machine counts as quiet. */
export const quietCores = 0.1;
const lookMs = 5_000;

/** Waits until other processes leave the machine alone for five seconds, or until `maxSeconds` are over. */
export async function waitForQuiet(maxSeconds: number, log: (line: string) => void) {
  const begun = performance.now();
  for (;;) {
    const before = readCpuCounters();
    await delay(lookMs);
    const { others, stolen } = otherUse(before, readCpuCounters());
    const seconds = (performance.now() - begun) / 1_000;
    const isQuiet = others + stolen <= quietCores;
    if (isQuiet || seconds >= maxSeconds) return { waitedSeconds: seconds, isQuiet };
    log(`waiting for quiet: others use ${(others + stolen).toFixed(2)} cores`);
  }
}
