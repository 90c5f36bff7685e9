import type { Flood } from './login-flood.ts';
import type { Timed } from './timed.ts';

/** Milliseconds after which the answer to an admitted login counts as late, measured by its client. */
const deadlineMs = 5_000;

/** Returns the figures of a flood, by name. */
export function describeFlood({ logins, quiet, flooded, memoryBefore, memoryPeak, slots }: Flood) {
  const of = (...statuses: number[]) => logins.filter(({ status }) => statuses.includes(status));
  const others = logins.filter(({ status }) => ![200, 401, 503].includes(status));
  const admitted = of(200, 401);
  return {
    slots: String(slots),
    admitted: `${admitted.length} (${of(200).length} right, ${of(401).length} wrong)`,
    'answered in, ms': inWords(admitted),
    'answered late': String(admitted.filter(({ ms }) => ms > deadlineMs).length),
    shed: String(of(503).length),
    'shed in, ms': inWords(of(503)),
    'other answers': others.map(({ status, error }) => error ?? status).join(' ') || '0',
    'public keys idle, ms': inWords(quiet.keys),
    'public keys flooded, ms': inWords(flooded.keys),
    'refresh idle, ms': inWords(quiet.refreshes),
    'refresh flooded, ms': inWords(flooded.refreshes),
    'memory, MiB': `${memoryBefore.toFixed(0)} before, ${memoryPeak.toFixed(0)} at most`,
  };
}

/** Returns the median, the 99th percentile and the longest time, as text. */
function inWords(answers: readonly Timed[]): string {
  const sorted = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`;
}
