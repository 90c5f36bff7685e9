import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newSeeds } from './new-seeds.ts';
import { showProgress } from './progress.ts';
import { course, expectToConverge, type Figures, newWorld } from './zombie-commands.ts';
import { openZombieFixture, patience, promisedMs, type ZombieFixture } from './zombie-fixture.ts';

/** Number of runs. `npm run test:long zombies` asks for more; `MODEL_SEED` repeats a run. */
const numRuns = Number(process.env.ZOMBIE_RUNS ?? 10);
const isSuite = process.env.ZOMBIE_RUNS === undefined;
const nextSeed = newSeeds(isSuite);

const figures: Figures = { runs: 0, commands: 0, streams: 0, atOnce: [], madeGood: [] };
let fixture: ZombieFixture;

beforeAll(async () => {
  fixture = await openZombieFixture();
});

afterAll(async () => {
  if (process.env.MODEL_FIGURES) report();
  await fixture.close();
});

function report(): void {
  const summary = (values: number[]) => {
    const sorted = values.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(1);
    return { count: sorted.length, p50: at(0.5), p99: at(0.99), longest: at(1) };
  };
  const { atOnce, madeGood, ...counts } = figures;
  console.log({ ...counts, atOnceMs: summary(atOnce), madeGoodMs: summary(madeGood) });
}

// guarantees: stream-closes
test(
  'no stream outlives its session: gone at once if the command arrives, and soon if it was lost',
  async () => {
    const property = fc.asyncProperty(course, async (commands) => {
      const real = { fixture, figures };
      const model = await newWorld(real);
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await expectToConverge(model, real, promisedMs * patience);
      figures.runs += 1;
      showProgress(isSuite, {
        [`of ${numRuns} runs`]: figures.runs,
        commands: figures.commands,
        streams: figures.streams,
      });
    });
    await fc.assert(property, { numRuns, ...nextSeed(), endOnFailure: isSuite });
    expect(figures.runs).toBeGreaterThanOrEqual(numRuns);
  },
  300_000 + numRuns * 10_000,
);
