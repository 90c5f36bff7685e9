import type { Level } from '../push/measure-candidate.ts';
import { type Aim, atLeastTimes, atMost } from './aim.ts';
import { mostGrowth } from './growth-aims.ts';
import type { PushResult } from './results.ts';

const ms = (value: number) => `${value.toFixed(2)} ms`;

export function pushAims({ candidates, logouts }: PushResult): Aim[] {
  const levels = candidates.gateway?.levels ?? [];
  const last = levels.at(-1);
  if (last === undefined) return [];
  const { commandToClose: closes, streams } = last;
  const tenThousand = 10_000 / last.handshakesPerSecond;
  return [
    atMost({
      what: `memory of an idle stream, at ${streams}`,
      ...{ value: last.bytesPerStream, most: 2_000, show: (bytes: number) => `${(bytes / 1_000).toFixed(2)} KB` },
    }),
    ...memoryBesides(candidates, levels),
    atMost({ what: `command → close, p50, at ${streams} streams`, value: closes.p50, most: 0.6, show: ms }),
    atMost({ what: `command → close, p99, at ${streams} streams`, value: closes.p99, most: 6, show: ms }),
    atMost({
      what: 'HTTP logout → close, p50, one in flight: beyond a bare acknowledged write',
      ...{ value: logouts.single.p50 - logouts.bareWrite.p50, most: 1, show: ms },
    }),
    atMost({ what: 'HTTP logout → close, p99, one in flight', value: logouts.single.p99, most: 10, show: ms }),
    atMost({
      what: '10,000 handshakes, at the rate of the last ones',
      ...{ value: tenThousand, most: 2, show: (seconds: number) => `${seconds.toFixed(2)} s` },
    }),
    flatAim(levels),
  ];
}

/** Minimum factor by which these need more memory for a stream. */
const leastMemory = { 'socket.io': 7, centrifugo: 15 } as const;

/** Compares the memory at the largest number of streams that the other one held. */
function memoryBesides(candidates: PushResult['candidates'], own: readonly Level[]): Aim[] {
  return Object.entries(leastMemory).flatMap(([name, least]) => {
    const other = candidates[name]?.levels.at(-1);
    const same = own.find(({ streams }) => streams === other?.streams);
    if (other === undefined || same === undefined) return [];
    const what = `memory of an idle stream: less than ${name}, at ${other.streams}`;
    const shown = `${(other.bytesPerStream / 1_000).toFixed(2)} KB`;
    return [atLeastTimes(what, other.bytesPerStream / same.bytesPerStream, least, shown)];
  });
}

function flatAim(levels: readonly Level[]): Aim {
  const [first, last] = [levels[0], levels.at(-1)];
  const value = (last?.commandToClose.p50 ?? Number.NaN) / (first?.commandToClose.p50 ?? Number.NaN);
  const what = `command → close, p50: ${last?.streams} streams beside ${first?.streams}`;
  return atMost({ what, value, most: mostGrowth, show: (times) => `${times.toFixed(2)} ×` });
}
