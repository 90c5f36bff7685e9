import { styleText } from 'node:util';
import type { Log } from '../log.ts';

const COLOURS = { api: 'cyan', 'push-gateway': 'magenta', worker: 'yellow', migrate: 'gray' } as const;
const WIDTH = Math.max(...Object.keys(COLOURS).map((name) => name.length));

/**
 * Creates a printer that puts the name of the service before each of its lines. If stdout is a terminal, log records
 * become readable text, and names are coloured unless NO_COLOR is set. Otherwise the lines stay as they are, for
 * programs.
 */
export function createLinePrinter(name: string, print: Log): Log {
  const colour = name in COLOURS ? COLOURS[name as keyof typeof COLOURS] : 'blue';
  const prefix = styleText(colour, `${name.padEnd(WIDTH)} |`, { stream: process.stdout });
  const toText = process.stdout.isTTY === true ? readableRecord : (line: string) => line;
  return (line) => print(`${prefix} ${toText(line)}`);
}

interface LogRecord {
  readonly time: string;
  readonly level: string;
  readonly msg?: string;
  readonly err?: { readonly type?: string; readonly message?: string; readonly stack?: string };
}

/**
 * Formats a log record as text, with the time of day, the level, the message and the other fields. A line that is not a
 * record is returned unchanged.
 */
export function readableRecord(line: string): string {
  const record = parseRecord(line);
  if (record === undefined) return line;
  const { time, level, msg = '', err, service: _, ...fields } = record as LogRecord & Record<string, unknown>;
  const cause = err === undefined ? [] : [`${err.type ?? 'Error'}: ${err.message ?? ''}`];
  const others = Object.entries(fields).map(([name, value]) => `${name}=${textOf(value)}`);
  const text = [new Date(time).toTimeString().slice(0, 8), level.padEnd(5), msg, ...cause, ...others].join(' ');
  return err?.stack !== undefined && ['error', 'fatal'].includes(level) ? `${text}\n${err.stack}` : text;
}

function parseRecord(line: string): LogRecord | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value = JSON.parse(line);
    return typeof value.time === 'string' && typeof value.level === 'string' ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
