import { readFileSync } from 'node:fs';

/** CPU milliseconds of each process for one operation. */
export interface OperationFigures {
  readonly api: number;
  readonly mongodb: number;
  readonly redis: number;
}

const operationNames = ['register', 'login', 'session read', 'refresh', 'logout'] as const;
type OperationName = (typeof operationNames)[number];

/** Figures of docs/benchmarks.md, which `npm run bench` writes. */
export interface BenchFigures {
  readonly day: string;
  readonly operations: Readonly<Record<OperationName, OperationFigures>>;
  /** CPU milliseconds of the gateway for a handshake, at the largest measured number of open streams. */
  readonly handshakeMs: number;
}

/** Reads the figures from the page. Throws if the page lacks any of them. */
export function readBenchFigures(page = readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8')) {
  return benchFiguresOf(page);
}

/** Returns the figures of the page's text. Throws if the text lacks any of them. */
export function benchFiguresOf(page: string): BenchFigures {
  const tables = tablesOf(page);
  const costs = tableWith(tables, ['operation', 'server', 'its CPU ms', 'MongoDB', 'Redis']);
  const operations = operationNames.map((name) => {
    const row = costs.find(({ operation, server }) => operation === name && server === 'api');
    if (row === undefined) throw new Error(`docs/benchmarks.md has no cost of ${name} at the api`);
    const figures = { api: row['its CPU ms'], mongodb: row.MongoDB, redis: row.Redis };
    return [name, Object.fromEntries(Object.entries(figures).map(([key, text]) => [key, toNumber(text)]))] as const;
  });
  const streams = tableWith(tables, ['', 'streams', 'CPU ms per handshake']).findLast((row) => row[''] === 'gateway');
  const day = /^\| day \| (\S+) \|/m.exec(page)?.[1] ?? 'unknown';
  return {
    day,
    operations: Object.fromEntries(operations) as unknown as BenchFigures['operations'],
    handshakeMs: toNumber(streams?.['CPU ms per handshake']),
  };
}

type Row = Readonly<Record<string, string>>;

/** Returns the page's tables, as rows with cells by the name of their column. */
function tablesOf(page: string): Row[][] {
  const blocks = page.split(/\n(?!\|)/).map((block) => block.split('\n').filter((line) => line.startsWith('|')));
  return blocks
    .filter((lines) => lines.length > 2)
    .map(([head = '', , ...lines]) => {
      const names = cellsOf(head);
      return lines.map((line) => Object.fromEntries(cellsOf(line).map((cell, place) => [names[place] ?? '', cell])));
    });
}

const cellsOf = (line: string) => line.split(' | ').map((cell) => cell.replace(/^\|\s*|\s*\|$/g, '').trim());

function tableWith(tables: readonly Row[][], names: readonly string[]): Row[] {
  const found = tables.find(([row]) => row !== undefined && names.every((name) => name in row));
  if (found === undefined) throw new Error(`docs/benchmarks.md has no table with the columns ${names.join(', ')}`);
  return found;
}

function toNumber(text: string | undefined): number {
  const value = Number(text);
  if (text === undefined || text === '' || !Number.isFinite(value)) throw new Error(`${text} is no figure`);
  return value;
}
