import type { History, Outcome } from '../load/history.ts';
import { describeSdk, type SdkReport } from '../sdk/sdk-report.ts';

/** The effect of one fault. */
export interface FaultRecord {
  readonly name: string;
  readonly detail: string;
  readonly isKill: boolean;
  /** Milliseconds of the longest times without a success, and from the repair until all services were ready. */
  readonly writeGap: number;
  readonly readGap: number;
  readonly readyAfter: number;
}

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly faults: readonly FaultRecord[];
  readonly kills: number;
  readonly operations: Readonly<Record<Outcome, number>>;
  readonly sdk: SdkReport;
  readonly repeatedDeliveries: number;
  readonly violations: number;
}

export function sumOperations({ counts }: History): Record<Outcome, number> {
  const sum = { acknowledged: 0, refused: 0, unknown: 0 };
  for (const count of counts.values()) {
    for (const outcome of ['acknowledged', 'refused', 'unknown'] as const) sum[outcome] += count[outcome];
  }
  return sum;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Prints the figures of a run as Markdown tables. */
export function printReport({ counts, violations }: History, report: Report): void {
  const { operations, faults } = report;
  const lines = [
    '',
    '| fault | times | longest write gap | longest read gap | ready again after |',
    '| --- | --- | --- | --- | --- |',
  ];
  for (const [name, records] of Map.groupBy(faults, (fault) => fault.name)) {
    const longest = (pick: (record: FaultRecord) => number) => seconds(Math.max(...records.map(pick)));
    const gaps = [
      longest((each) => each.writeGap),
      longest((each) => each.readGap),
      longest((each) => each.readyAfter),
    ];
    lines.push(`| ${name} | ${records.length} | ${gaps.join(' | ')} |`);
  }
  lines.push('', '| operation | acknowledged | refused | unknown |', '| --- | --- | --- | --- |');
  for (const [kind, { acknowledged, refused, unknown }] of counts) {
    lines.push(`| ${kind} | ${acknowledged} | ${refused} | ${unknown} |`);
  }
  lines.push(
    '',
    `seed ${report.seed}, ${report.seconds} s: ${operations.acknowledged} operations acknowledged, ${operations.refused} refused, ` +
      `${operations.unknown} without an answer; ${faults.length} faults, ${report.kills} kills; ` +
      `${report.repeatedDeliveries} repeated deliveries; ${report.violations} violations`,
    describeSdk(report.sdk),
  );
  for (const { at, what, detail } of violations.slice(0, 20)) {
    lines.push(`VIOLATION after ${seconds(at)}: ${what} ${JSON.stringify(detail)}`);
  }
  console.log(lines.join('\n'));
}
