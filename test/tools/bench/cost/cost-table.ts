import { markdownTable } from '../report/section.ts';
import type { ColdCost } from './cold-cost.ts';
import { costMedians, medianHashMs } from './cost-medians.ts';
import type { SideBySide } from './measure-side-by-side.ts';
import type { WarmUp } from './warm-up.ts';

/** Formats the medians as a Markdown table of CPU milliseconds and of equivalent numbers of bare hashes. */
export function costTable({ measured, warmUps, repeated }: SideBySide, colds: readonly ColdCost[]): string {
  const head = [
    ...['operation', 'server', 'its CPU ms', 'MongoDB', 'Redis', 'server and MongoDB', 'in bare hashes'],
    ...['cold', 'operations before'],
  ];
  const rows = costMedians(measured).map((cost) => {
    const { operation, candidate, server, mongod, redis, both, inHashes } = cost;
    const costs = [server, mongod, redis, both].map((ms) => ms.toFixed(2));
    return [operation, candidate, ...costs, inHashes.toFixed(3), coldText(colds, cost), warmUpText(warmUps, cost)];
  });
  const disturbed = repeated === 0 ? '' : `; ${repeated} disturbed rounds were repeated`;
  return `${markdownTable(head, rows)}\n\nA bare Argon2id hash: ${medianHashMs(measured).toFixed(2)} ms${disturbed}`;
}

type Row = Pick<WarmUp, 'operation' | 'candidate'>;

const isOf = (row: Row) => (each: Row) => each.operation === row.operation && each.candidate === row.candidate;

/** Shows the cost of the first operations of a new process. */
export function coldText(colds: readonly ColdCost[], row: Row): string {
  return colds.find(isOf(row))?.both.toFixed(2) ?? '–';
}

/** Shows the number of operations in the warm-up, and whether the cost had stopped changing after them. */
export function warmUpText(warmUps: readonly WarmUp[], row: Row): string {
  const found = warmUps.find(isOf(row));
  if (found === undefined) return '–';
  const count = found.operations.toLocaleString('en');
  return found.isSteady ? count : `${count}, still moving`;
}
