import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { openPushStream } from './push-stream.ts';

test('a stop before the handshake ends the run in order, without an unhandled error', async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note);
  const patience = { timeoutMs: 60_000, stop: AbortSignal.abort(), graceMs: 0 };
  const request = { url: 'ws://127.0.0.1:9', accessToken: 'token', requestId: 'request', patience };
  await expect(openPushStream(request)).rejects.toThrow('stopped');
  await delay(20);
  process.off('uncaughtException', note);
  expect(uncaught).toEqual([]);
});
