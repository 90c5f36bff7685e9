import { markdownTable as table } from '../report/section.ts';
import type { CandidateResult } from './measure-candidate.ts';
import type { LogoutResult } from './measure-logouts.ts';
import type { Percentiles } from './percentiles.ts';

const latency = ({ p50, p99, max }: Percentiles) => `${p50} / ${p99} / ${max}`;

/** Formats the results as Markdown, with a line for each candidate and number of streams, and then the latencies. */
export function candidatesTable(candidates: Readonly<Record<string, CandidateResult>>): string {
  const memory = Object.entries(candidates).flatMap(([name, { emptyMiB, levels }]) =>
    levels.map((level) => [
      name,
      level.streams,
      level.bytesPerStream,
      level.kernelBytesPerConnection.tcpBuffers,
      level.kernelBytesPerConnection.slab,
      level.handshakesPerSecond,
      level.openingSeconds,
      level.cpuMsPerHandshake,
      emptyMiB,
      latency(level.commandToClose),
    ]),
  );
  const latencies = Object.entries(candidates).map(([name, result]) => {
    const { broadcast, idleCpuPercent, lost } = result;
    return [name, latency(broadcast), broadcast.groupSize, idleCpuPercent, lost];
  });
  return [
    table(
      [
        '',
        'streams',
        'user space, bytes per stream',
        'TCP buffers, both ends, bytes',
        'kernel slab, both ends, bytes',
        'handshakes/s',
        'opened in s',
        'CPU ms per handshake',
        'empty process, MiB',
        'command → close, p50 / p99 / max ms',
      ],
      memory,
    ),
    table(
      ['', 'group message → frame, p50 / p99 / max ms', 'group', 'idle CPU, % of a core', 'streams lost'],
      latencies,
    ),
  ].join('\n\n');
}

export function logoutTable({ single, singleAnswer, bareWrite, flood }: LogoutResult): string {
  const rows = [
    ['one in flight', latency(single), latency(singleAnswer)],
    [
      `${flood.wantedPerSecond}/s begun, ${flood.donePerSecond}/s done`,
      latency(flood.requestToClose),
      latency(flood.requestToAnswer),
    ],
    ['a bare acknowledged write, in turns with those in flight alone', '–', latency(bareWrite)],
  ];
  return table(['HTTP logouts', 'request → close, p50 / p99 / max ms', 'request → 200, p50 / p99 / max ms'], rows);
}
