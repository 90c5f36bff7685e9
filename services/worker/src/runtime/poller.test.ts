import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createPoller } from './poller.ts';

/** Creates rounds that each last until the test ends them. */
function gatedRounds() {
  const gates: (() => void)[] = [];
  let [underWay, most] = [0, 0];
  return {
    async run(): Promise<void> {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise<void>((resolve) => gates.push(resolve));
      underWay -= 1;
    },
    async until(begun: number): Promise<void> {
      while (gates.length < begun) await delay(1);
    },
    letGo: (round: number) => gates[round]?.(),
    begun: () => gates.length,
    maxAtOnce: () => most,
  };
}

const hour = 3_600_000;
const ignore = () => undefined;

describe('a poller', () => {
  test('a poller begins the next round at once when triggered, and never before the current one has ended', async () => {
    const rounds = gatedRounds();
    const poller = createPoller({ run: rounds.run, intervalMs: hour, onError: ignore });
    poller.start();
    poller.start();
    await rounds.until(1);
    poller.trigger();
    poller.trigger();
    expect(rounds.begun()).toBe(1);
    rounds.letGo(0);
    await rounds.until(2);
    expect(rounds.maxAtOnce()).toBe(1);
    const stopped = poller.stop();
    rounds.letGo(1);
    await stopped;
    expect(rounds.begun()).toBe(2);
  });

  test('a poller continues after a round that failed, and reports it', async () => {
    const errors: unknown[] = [];
    let begun = 0;
    const { promise: third, resolve } = Promise.withResolvers<void>();
    const run = async () => {
      begun += 1;
      if (begun === 3) resolve();
      throw new Error(`round ${begun}`);
    };
    const poller = createPoller({ run, intervalMs: 1, onError: (error) => errors.push(error) });
    poller.start();
    await third;
    await poller.stop();
    expect(errors.slice(0, 3).map(String)).toEqual(['Error: round 1', 'Error: round 2', 'Error: round 3']);
  });

  test('a poller stops in the middle of its pause, and does nothing when it was never started', async () => {
    let begun = 0;
    const run = async () => {
      begun += 1;
    };
    const poller = createPoller({ run, intervalMs: hour, onError: ignore });
    await poller.stop();
    poller.start();
    await poller.stop();
    expect(begun).toBe(0);

    const other = createPoller({ run, intervalMs: hour, onError: ignore });
    other.start();
    while (begun === 0) await delay(1);
    await other.stop();
    expect(begun).toBe(1);
  });
});
