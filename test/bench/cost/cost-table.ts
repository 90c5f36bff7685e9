import type { OperationCost } from './measure-operation.ts';
import type { OperationName } from './operations.ts';

/** One round of an operation at a candidate. */
export interface Measured {
  readonly operation: OperationName;
  readonly candidate: string;
  readonly cost: OperationCost;
}

/** Medians as a Markdown table: CPU milliseconds, and how many bare hashes that is. */
export function costTable(measured: readonly Measured[], hashes: readonly number[]): string {
  const hash = medianOf(hashes);
  const lines = [
    ['operation', 'server', 'its CPU ms', 'MongoDB', 'Redis', 'server and MongoDB', 'in bare hashes'],
    Array.from({ length: 7 }, () => '---'),
  ];
  for (const [operation, ofOperation] of Map.groupBy(measured, (each) => each.operation)) {
    for (const [candidate, rounds] of Map.groupBy(ofOperation, (each) => each.candidate)) {
      const of = (pick: (cost: OperationCost) => number) => medianOf(rounds.map(({ cost }) => pick(cost)));
      const both = of(({ server, mongod }) => server + mongod);
      const costs = [of(({ server }) => server), of(({ mongod }) => mongod), of(({ redis }) => redis), both];
      lines.push([operation, candidate, ...costs.map((ms) => ms.toFixed(2)), (both / hash).toFixed(2)]);
    }
  }
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return `${table}\n\nA bare Argon2id hash: ${hash.toFixed(2)} ms`;
}

function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
