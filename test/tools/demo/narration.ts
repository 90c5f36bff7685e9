import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { type CloseReason, closeCodes } from '@auth-account/contracts';
import { type ApiDriver, apiAt, drive } from '../../support/api/api-driver.ts';
import type { StreamClient } from '../../support/gateway/push-client.ts';

export function say(text: string): void {
  console.log(`\n${styleText('bold', text)}`);
}

export function show(label: string, value: unknown): void {
  console.log(`  ${styleText('dim', label.padEnd(10))} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
}

export function milliseconds(from: number, to: number): string {
  return `${(to - from).toFixed(1)} ms`;
}

/** Waits for the stream's end, shows it, and throws if it has another reason. */
export async function showClose(stream: StreamClient, reason: CloseReason): Promise<void> {
  const answeredAt = performance.now();
  const late = pause(60_000, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('it did not close in 60 s')),
  );
  const closed = await Promise.race([stream.closed, late]);
  const after = milliseconds(answeredAt, closed.at);
  show('closed', `${closed.code} ${closed.reason}, ${after} after the answer (below zero: before it)`);
  const isRight = closed.code === closeCodes[reason] && closed.reason === reason;
  if (!isRight) throw new Error(`expected ${closeCodes[reason]} ${reason}`);
}

/** Creates a driver of the api that prints requests and answers. */
export function narrate(base: string, requestId: string): ApiDriver {
  const api = apiAt(base, { headers: { 'X-Request-ID': requestId } });
  return drive(async (request) => {
    const start = performance.now();
    const answer = await api.send(request);
    show(request.method ?? 'POST', request.path);
    show(String(answer.status), `${shorten(answer.text)} (${milliseconds(start, performance.now())})`);
    return answer;
  });
}

/** Shortens tokens, which are long and should not stay in a terminal's history. */
function shorten(text: string): string {
  return text.replaceAll(/"((?:access|refresh)_token)":"(.{8})[^"]*"/g, '"$1":"$2…"');
}
