import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import type { Connection } from '../streams/connection.ts';
import { createDeliverMessages } from './deliver-messages.ts';

test('messages of one turn of the event loop are sent a hundred at a time, in their order', async () => {
  const heard: string[][] = Array.from({ length: 100 }, () => []);
  let sends = 0;
  const connections = heard.map((frames) => ({
    socket: {
      send(frame: Buffer) {
        sends += 1;
        frames.push(JSON.parse(String(frame)).id);
      },
      getBufferedAmount: () => 0,
    },
  })) as unknown as Connection[];
  const inc = jest.fn();
  const deliver = createDeliverMessages({
    registry: { ofGroup: () => connections, ofSession: () => [] },
    metrics: { messages: { inc }, messageFrames: { inc } } as never,
  });
  const message = { home_group_id: randomUUID(), topic: 'x', payload: 1, timestamp: new Date().toISOString() };
  const ids = Array.from({ length: 500 }, (_, index) => String(index));

  for (const id of ids) deliver(JSON.stringify({ ...message, id }));
  let most = sends;
  while (sends < 50_000) {
    const before = sends;
    await nextTurn();
    most = Math.max(most, sends - before);
  }
  expect(most).toBe(100);
  expect(heard.every((frames) => frames.join() === ids.join())).toBe(true);
});
