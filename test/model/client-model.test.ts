import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cheapHashes } from '../support/groups.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';
import { type Course, course } from './client-course.ts';
import { found } from './client-found.ts';
import type { Observed } from './client-observed.ts';
import { createVirtualTime, type VirtualTime } from './client-time.ts';
import { walk } from './client-walk.ts';
import { newSeeds } from './new-seeds.ts';
import { showProgress } from './progress.ts';

/** Number of random courses; `npm run test:long client` asks for more. */
const numRuns = Number(process.env.CLIENT_RUNS ?? 25);
const isSuite = process.env.CLIENT_RUNS === undefined;
const nextSeed = newSeeds(isSuite);

let api: TestApi;
let time: VirtualTime;
let begunAt = Date.now();
let courses = 0;
const figures = new Map<string, number>();

beforeAll(async () => {
  time = createVirtualTime();
  api = await startTestApi(
    { ...cheapHashes, LOGIN_ACCOUNT_FREE_FAILURES: '1000000' },
    { now: () => begunAt + time.now() },
  );
});
afterAll(async () => {
  if (process.env.MODEL_FIGURES) console.log({ courses, ...Object.fromEntries([...figures].sort()) });
  await api.close();
});

async function walkOne(steps: Course): Promise<Observed> {
  time = createVirtualTime();
  begunAt = Date.now();
  return walk(api, time, steps);
}

/** Shrinks a course that broke a promise, for a while. */
async function describe(seed: number): Promise<string> {
  const property = fc.asyncProperty(course, async (steps) => {
    const { violations, story } = await walkOne(steps);
    if (violations.length > 0) throw new Error([...story, ...violations].join('\n'));
  });
  const outcome = await fc.check(property, { seed, numRuns: 1, interruptAfterTimeLimit: 15_000 });
  return `${JSON.stringify(outcome.counterexample)}\n${(outcome.errorInstance as Error | null)?.message}`;
}

test.each(Object.keys(found))('keeps its promises after %s', async (name) => {
  const { violations, story } = await walkOne({ ...(found[name] as Course), isExact: true });
  expect([...violations, ...(violations.length > 0 ? story : [])]).toEqual([]);
});

test(
  'whatever the network, the storage and the system do to the app: its session ends only if somebody ends it',
  async () => {
    const broken: { readonly seed: number; readonly violations: readonly string[] }[] = [];
    for (let run = 0; run < numRuns; run += 1) {
      const { seed } = nextSeed();
      const observed = await walkOne(fc.sample(course, { seed, numRuns: 1 })[0] as Course);
      for (const [what, count] of observed.figures) figures.set(what, (figures.get(what) ?? 0) + count);
      if (observed.violations.length > 0) {
        broken.push({ seed, violations: observed.violations });
        if (!isSuite) process.stderr.write(`seed ${seed}: ${observed.violations.join(', ')}\n`);
      }
      courses += 1;
      showProgress(isSuite, { [`of ${numRuns} courses`]: courses, broken: broken.length });
    }
    if (broken[0]) throw new Error(`${JSON.stringify(broken, null, 1)}\n${await describe(broken[0].seed)}`);
    expect(courses).toBe(numRuns);
  },
  300_000 + numRuns * 5_000,
);
