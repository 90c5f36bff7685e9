import { styleText } from 'node:util';
import { type CloseReason, closeCodes } from '@auth-account/contracts';
import { type Answer, send } from '../../support/http-client.ts';
import type { StreamClient } from '../../support/push-client.ts';

export const demoPassword = 'correct horse battery staple';

export function say(text: string): void {
  console.log(`\n${styleText('bold', fold(text, terminalWidth(), 0))}`);
}

const labelWidth = 13;

export function show(label: string, value: unknown): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  console.log(`  ${styleText('dim', label.padEnd(labelWidth - 3))} ${fold(text, terminalWidth(), labelWidth)}`);
}

/** Returns the width at which lines are folded. Only a terminal folds them, because programs read whole lines. */
function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
}

/**
 * Breaks a text into lines that end before the column `width`. Lines after the first begin at the column `indent`. A
 * line breaks after its last space or comma, unless that is in its first quarter.
 */
export function fold(text: string, width: number, indent: number): string {
  const room = Math.max(20, width - indent);
  const lines: string[] = [];
  let rest = text;
  while (rest.length > room) {
    const last = Math.max(rest.lastIndexOf(' ', room - 1), rest.lastIndexOf(',', room - 1)) + 1;
    const end = last > room / 4 ? last : room;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end);
  }
  return [...lines, rest].join(`\n${' '.repeat(indent)}`);
}

export function milliseconds(from: number, to: number): string {
  return `${(to - from).toFixed(1)} ms`;
}

const patienceMs = 60_000;

/** Waits for something that must come within 60 s. Otherwise throws an error that names `what`. */
export async function inTime<T>(what: string, coming: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} did not come within ${patienceMs / 1_000} s`)), patienceMs);
  return Promise.race([coming, promise]).finally(() => clearTimeout(timer));
}

/** Throws an error that names both values, if they differ. */
export function check(what: string, came: unknown, expected: unknown): void {
  if (came !== expected) throw new Error(`${what} is ${came}, not ${expected}`);
}

/** Waits for the stream's end, shows it, and throws if it has another reason. */
export async function showClose(stream: StreamClient, reason: CloseReason): Promise<void> {
  const answeredAt = performance.now();
  const closed = await inTime('the close of the stream', stream.closed);
  const after = milliseconds(answeredAt, closed.at);
  show('closed', `${closed.code} ${closed.reason}, ${after} after the answer (below zero: before it)`);
  check('the close code', closed.code, closeCodes[reason]);
  check('the reason of the close', closed.reason, reason);
}

type Headers = Readonly<Record<string, string>>;

/**
 * Creates functions that send a request to a path below `/api/v1`, print the answer, and throw if it has another
 * status.
 */
export function createAsk(api: string, requestId: string) {
  async function ask(method: string, path: string, status: number, headers: Headers, body?: object): Promise<Answer> {
    const needed = { 'Content-Type': 'application/json', 'X-Request-ID': requestId };
    const start = performance.now();
    const answer = await send(api, { method, path: `/api/v1/${path}`, body, headers: { ...needed, ...headers } });
    show(method, `/api/v1/${path}`);
    show(String(answer.status), `${shorten(answer.text)} (${milliseconds(start, performance.now())})`);
    if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}`);
    return answer;
  }
  return {
    post: (path: string, status: number, body: object, headers: Headers = {}) =>
      ask('POST', path, status, headers, body),
    remove: (path: string, status: number, headers: Headers) => ask('DELETE', path, status, headers),
    get: (path: string, status: number, headers: Headers = {}) => ask('GET', path, status, headers),
  };
}

/** Shortens tokens, which are long and should not stay in a terminal's history. */
function shorten(text: string): string {
  return text.replaceAll(/"((?:access|refresh)_token)":"(.{8})[^"]*"/g, '"$1":"$2…"');
}
