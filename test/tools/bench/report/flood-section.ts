import type { FloodResult } from '../flood/measure-flood.ts';
import type { Percentiles } from '../push/percentiles.ts';
import { markdownTable } from './markdown-table.ts';
import { paragraphs, type Section } from './section.ts';

const latency = ({ count, p50, p99, max }: Percentiles) =>
  count === 0 ? '–' : `p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, most ${max.toFixed(0)} ms`;

export function floodSection(flood: FloodResult): Section {
  const { capacityPerSecond, sentPerSecond, sent, admitted, shed, shedShare, others, restarts, memoryMib } = flood;
  const times = (sentPerSecond / capacityPerSecond).toFixed(1);
  const rows = [
    ['capacity: logins per second that one api process answers here', capacityPerSecond.toFixed(0)],
    [
      'logins per second that came',
      `${sentPerSecond.toFixed(0)} (${times} times as many), ${sent} in all, on connections that are kept`,
    ],
    ['admitted, half with the right password, half for nobody’s address', `${admitted.count}: ${latency(admitted)}`],
    ['shed with 503 or 429 and `Retry-After`', `${shed.count} (${(shedShare * 100).toFixed(1)} %): ${latency(shed)}`],
    ['anything else', othersText(others)],
    ['a refresh meanwhile', latency(flood.refreshesMeanwhile)],
    ['restarts of the api', restarts],
    ['memory of the api', `${memoryMib.before.toFixed(0)} MiB before, ${memoryMib.most.toFixed(0)} at most`],
  ];
  return {
    heading: 'A flood of logins',
    text: paragraphs(
      'Logins come steadily, far more than the api can hash, whether or not those before were answered. Times are the client’s, which shares the cores with api, MongoDB and Redis.',
      markdownTable(['', ''], rows),
    ),
    plots: {},
  };
}

function othersText(others: FloodResult['others']): string {
  const parts = Object.entries(others).map(([name, count]) => `${count} × ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
