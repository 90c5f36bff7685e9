import { markdownTable as table } from '../report/section.ts';
import type { LogoutResult } from './measure-logouts.ts';
import type { StreamsResult } from './measure-streams.ts';
import type { Percentiles } from './percentiles.ts';

const latency = ({ p50, p99, max }: Percentiles) => `${p50} / ${p99} / ${max}`;

/** Formats the results as Markdown, with a line for each number of streams, and then the rest. */
export function streamsTable({ levels, emptyMiB, broadcast, idleCpuPercent, lost }: StreamsResult): string {
  const rows = levels.map((level) => [
    level.streams,
    level.bytesPerStream,
    level.kernelBytesPerConnection.tcpBuffers,
    level.kernelBytesPerConnection.slab,
    level.handshakesPerSecond,
    level.openingSeconds,
    level.cpuMsPerHandshake,
    latency(level.commandToClose),
  ]);
  const head = ['streams', 'user space, bytes per stream', 'TCP buffers, both ends, bytes'];
  const times = ['handshakes/s', 'opened in s', 'CPU ms per handshake', 'command → close, p50 / p99 / max ms'];
  return [
    table([...head, 'kernel slab, both ends, bytes', ...times], rows),
    table(
      [
        'empty process, MiB',
        'group message → frame, p50 / p99 / max ms',
        'group',
        'idle CPU, % of a core',
        'streams lost',
      ],
      [[emptyMiB, latency(broadcast), broadcast.groupSize, idleCpuPercent, lost]],
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
