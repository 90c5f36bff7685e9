import { markdownTable } from '../bench/report/figures.ts';
import type { Report } from './faults.ts';
import type { History } from './load/history.ts';
import { describeFigures } from './sdk/sdk-user.ts';

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Prints the figures of a run as Markdown tables. */
export function printReport({ counts }: History, report: Report): void {
  const { operations, faults, violations } = report;
  const kills = faults.filter(({ name }) => name.startsWith('kill -9'));
  const gaps = Array.from(
    Map.groupBy(faults, ({ name }) => name),
    ([name, records]) => {
      const longest = (['writeGap', 'readGap', 'readyAfter'] as const).map((figure) =>
        seconds(Math.max(...records.map((record) => record[figure]))),
      );
      return [name, records.length, ...longest];
    },
  );
  const outcomes = Array.from(counts, ([kind, { acknowledged, refused, unknown }]) => [
    kind,
    acknowledged,
    refused,
    unknown,
  ]);
  const lines = [
    '',
    markdownTable(['fault', 'times', 'longest write gap', 'longest read gap', 'ready again after'], gaps),
    '',
    markdownTable(['operation', 'acknowledged', 'refused', 'unknown'], outcomes),
    '',
    `seed ${report.seed}, ${report.seconds} s: ${operations.acknowledged} operations acknowledged, ` +
      `${operations.refused} refused, ${operations.unknown} without an answer; ` +
      `${faults.length} faults, ${kills.length} kills; ` +
      `${report.repeatedDeliveries} repeated deliveries; ${violations.length} violations`,
    `${report.users} users of the client: ${describeFigures(report.sdk)}`,
    ...violations
      .slice(0, 20)
      .map(({ at, what, detail }) => `VIOLATION after ${seconds(at)}: ${what} ${JSON.stringify(detail)}`),
  ];
  console.log(lines.join('\n'));
}
