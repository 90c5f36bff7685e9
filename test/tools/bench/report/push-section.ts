import { candidatesTable, logoutTable } from '../push/tables.ts';
import { barChart } from './bar-chart.ts';
import type { PushResult } from './results.ts';
import { paragraphs, plotImage, type Section } from './section.ts';

const memoryPlot = 'stream-memory.svg';

export function pushSection({ candidates, logouts }: PushResult): Section {
  return {
    heading: 'Push streams',
    text: paragraphs(
      'The first table is about idle authenticated streams on one process. It also shows the time from a command over Redis to its close frame, with all these streams open and four commands in flight. The gateway and its peers do the same work on the same Redis with the same tokens. The kernel’s memory is that of both ends, because both are on this machine. If a process collects garbage during the measurement, it may need less memory with streams than it did empty. Then the figure is too low, or negative.',
      candidatesTable(candidates),
      plotImage(memoryPlot, 'Memory of an idle stream by server'),
      'Logouts over HTTP at the real api, after 2,000 that don’t count. The stream of each session is open at the gateway. The bare write changes one session’s document, as a logout does:',
      logoutTable(logouts),
    ),
    plots: { [memoryPlot]: memoryChart(candidates) },
  };
}

/** Draws the candidates' memory at the largest number of streams that all of them held. */
function memoryChart(candidates: PushResult['candidates']): string {
  const entries = Object.entries(candidates);
  const common = Math.min(...entries.map(([, { levels }]) => levels.at(-1)?.streams ?? 0));
  const bars = entries.flatMap(([label, { levels }]) => {
    const bytes = levels.find(({ streams }) => streams === common)?.bytesPerStream;
    if (bytes === undefined) return [];
    const kind = label === 'gateway' ? ('own' as const) : ('peer' as const);
    return [{ label, value: bytes, shown: `${(bytes / 1_000).toFixed(2)} KB`, kind }];
  });
  const groups = [{ label: `${common.toLocaleString('en')} streams`, bars }];
  return barChart({ title: 'Memory of an idle stream', subtitle: 'user space, over the empty process', groups });
}
