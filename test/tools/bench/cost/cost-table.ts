import { markdownTable } from '../report/markdown-table.ts';
import { costMedians } from './cost-medians.ts';
import type { SideBySide } from './measure-side-by-side.ts';
import { medianOf } from './median-of.ts';

/** Formats the medians as a Markdown table: CPU milliseconds, and the equivalent number of bare hashes. */
export function costTable({ measured, hashes }: SideBySide): string {
  const hash = medianOf(hashes);
  const head = ['operation', 'server', 'its CPU ms', 'MongoDB', 'Redis', 'server and MongoDB', 'in bare hashes'];
  const rows = costMedians(measured).map(({ operation, candidate, server, mongod, redis, both }) => {
    const costs = [server, mongod, redis, both].map((ms) => ms.toFixed(2));
    return [operation, candidate, ...costs, (both / hash).toFixed(2)];
  });
  return `${markdownTable(head, rows)}\n\nA bare Argon2id hash: ${hash.toFixed(2)} ms`;
}
