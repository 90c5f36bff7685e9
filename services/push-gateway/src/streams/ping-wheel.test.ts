import type { WebSocket } from 'uWebSockets.js';
import { expect, test } from '@jest/globals';
import type { Connection } from './connection.ts';
import { createPingWheel } from './ping-wheel.ts';

/** A wheel of 42 s, whose pings are recorded with their time in seconds. */
function fixture() {
  const pings: { readonly stream: number; readonly at: number }[] = [];
  let now = 0;
  const wheel = createPingWheel({ idleTimeoutSeconds: 50, now: () => now });
  const streams: Connection[] = [];
  return {
    pings,
    streams,
    open(count: number): void {
      for (let n = 0; n < count; n += 1) {
        const stream = streams.length;
        const socket = { ping: () => pings.push({ stream, at: now / 1_000 }) } as unknown as WebSocket<unknown>;
        streams.push({ socket } as Connection);
        wheel.watch(streams[stream] as Connection);
      }
    },
    run(seconds: number, stepMs = 20): void {
      for (const end = now + seconds * 1_000; now < end; ) {
        now += stepMs;
        wheel.turn();
      }
    },
    timesOf: (stream: number) => pings.flatMap((ping) => (ping.stream === stream ? ping.at : [])),
    /** Largest number of pings in one turn. */
    most: () => Math.max(...[...Map.groupBy(pings, ({ at }) => at).values()].map(({ length }) => length)),
  };
}

test('a stream is pinged every 42 s, when it is alone too', () => {
  const { open, run, timesOf } = fixture();
  run(10.5);
  open(1);
  run(200);
  expect(timesOf(0)).toEqual([52, 94, 136, 178]);
});

test('streams that were opened together are pinged over a second, and each of them every 42 s', () => {
  const { open, run, timesOf, pings, most } = fixture();
  open(10_000);
  run(86);
  expect(pings).toHaveLength(20_000);
  expect(most()).toBeLessThanOrEqual(201);
  for (const stream of [0, 5_000, 9_999]) {
    const [first = 0, second = 0] = timesOf(stream);
    expect([first >= 42, first < 43.1, Math.round(second - first)]).toEqual([true, true, 42]);
  }
});

test('a crowd of new streams delays no other stream’s ping, and streams that have ended get none', () => {
  const { open, run, timesOf, streams, pings } = fixture();
  open(100);
  run(41);
  open(100_000);
  for (const stream of streams.slice(50)) (stream as { socket: unknown }).socket = undefined;
  run(48);
  expect(timesOf(0).map(Math.floor)).toEqual([42, 84]);
  expect(pings).toHaveLength(100);
});

test('pings that a stall of the process has made late go out over several turns', () => {
  const { open, run, pings, most } = fixture();
  open(42_000);
  run(50, 50_000);
  run(3);
  expect(pings).toHaveLength(42_000);
  expect(most()).toBeLessThanOrEqual(42_000 / 10);
});
