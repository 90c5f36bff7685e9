import { afterAll, beforeAll, test } from '@jest/globals';
import fc from 'fast-check';
import { expectSound } from '../support/api/groups.ts';
import { course, type Step, takeStep, tour } from './account-commands.ts';
import { type AccountFixture, openAccountFixture } from './account-fixture.ts';
import { finish } from './account-settle.ts';
import { begin } from './account-world.ts';
import { newSeeds } from './new-seeds.ts';
import { showProgress } from './progress.ts';

/** Seconds for random courses; `npm run test:long model` asks for more. */
const seconds = Number(process.env.MODEL_SECONDS ?? 3);
const nextSeed = newSeeds();

let fixture: AccountFixture;
let courses = 0;
const figures = new Map<string, number>();
beforeAll(async () => {
  fixture = await openAccountFixture();
});
afterAll(async () => {
  if (process.env.MODEL_FIGURES) console.log({ courses, ...Object.fromEntries([...figures].sort()) });
  await fixture.close();
});

async function walk(steps: readonly Step[]): Promise<void> {
  const world = await begin(fixture, figures);
  for (const step of steps) await takeStep(world, step);
  await finish(world);
  courses += 1;
}

test('every change of an account ends its sessions and streams, whatever comes at the same time', () => walk(tour));

test(
  'whatever happens to an account at the same time: sessions, credentials and streams are the model’s',
  async () => {
    const property = fc.asyncProperty(course, (steps) => walk(steps));
    const end = performance.now() + seconds * 1_000;
    do {
      await fc.assert(property, { numRuns: 1, ...nextSeed(), endOnFailure: true });
      showProgress(process.env.MODEL_SECONDS === undefined, { courses });
    } while (performance.now() < end);
    await expectSound(fixture.api);
  },
  300_000 + seconds * 2_000,
);
