import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startClientServices } from '../support/client/client-fixture.ts';
import type { TestServices } from '../support/processes/test-services.ts';
import { type Course, course, streamedCourse } from './client-course.ts';
import { found } from './client-found.ts';
import type { Observed } from './client-observed.ts';
import { type Operator, openOperator } from './client-operator.ts';
import { createVirtualTime, type VirtualTime } from './client-time.ts';
import { walk } from './client-walk.ts';
import { newSeeds } from './new-seeds.ts';
import { showProgress } from './progress.ts';

/** Number of random courses; `npm run test:long client` asks for more. */
const numRuns = Number(process.env.CLIENT_RUNS ?? 25);
/** Number of further courses with streams: ten in the suite, and a tenth of the others in the long form. */
const numStreamed = Number(process.env.CLIENT_STREAM_RUNS ?? (process.env.CLIENT_RUNS ? Math.ceil(numRuns / 10) : 10));
const isSuite = process.env.CLIENT_RUNS === undefined && process.env.CLIENT_STREAM_RUNS === undefined;

let services: TestServices;
let operator: Operator;
let time: VirtualTime;
let begunAt = Date.now();
const figures = new Map<string, number>();

beforeAll(async () => {
  time = createVirtualTime();
  services = await startClientServices({}, { now: () => begunAt + time.now() });
  operator = openOperator(services.api.keyPrefix);
});
afterAll(async () => {
  if (process.env.MODEL_FIGURES) console.log(Object.fromEntries([...figures].sort()));
  await operator.close();
  await services.close();
});

/** A kind of course, and the function that walks one. */
interface Kind {
  readonly courses: fc.Arbitrary<Course>;
  walkOne(course: Course): Promise<Observed>;
}

function begin(): void {
  time = createVirtualTime();
  begunAt = Date.now();
}

const plain: Kind = {
  courses: course,
  async walkOne(steps) {
    begin();
    return walk(services.api, time, steps, begunAt);
  },
};
const streamed: Kind = {
  courses: streamedCourse,
  async walkOne(steps) {
    begin();
    return walk(services.api, time, steps, begunAt, { forceLogout: operator.forceLogout });
  },
};

/** Shrinks a course that broke a promise, for 15 s at most, and describes it. */
async function describe({ courses, walkOne }: Kind, seed: number): Promise<string> {
  const property = fc.asyncProperty(courses, async (steps) => {
    const { violations, story } = await walkOne(steps);
    if (violations.length > 0) throw new Error([...story, ...violations].join('\n'));
  });
  const outcome = await fc.check(property, { seed, numRuns: 1, interruptAfterTimeLimit: 15_000 });
  return `${JSON.stringify(outcome.counterexample)}\n${(outcome.errorInstance as Error | null)?.message}`;
}

/** Walks `runs` courses, and throws if any broke a promise. */
async function walkMany(kind: Kind, runs: number): Promise<number> {
  const nextSeed = newSeeds(isSuite);
  const broken: { readonly seed: number; readonly violations: readonly string[] }[] = [];
  let walked = 0;
  const from = performance.now();
  for (; walked < runs; ) {
    const { seed } = nextSeed();
    const observed = await kind.walkOne(fc.sample(kind.courses, { seed, numRuns: 1 })[0] as Course);
    for (const [what, count] of observed.figures) figures.set(what, (figures.get(what) ?? 0) + count);
    if (observed.violations.length > 0) {
      broken.push({ seed, violations: observed.violations });
      if (!isSuite) process.stderr.write(`seed ${seed}: ${observed.violations.join(', ')}\n`);
    }
    walked += 1;
    showProgress(isSuite, { [`of ${runs} courses`]: walked, broken: broken.length });
  }
  if (process.env.MODEL_FIGURES)
    console.log(`${walked} courses, ${Math.round((performance.now() - from) / walked)} ms each`);
  if (broken[0]) throw new Error(`${JSON.stringify(broken, null, 1)}\n${await describe(kind, broken[0].seed)}`);
  return walked;
}

test.each(Object.keys(found))('a client keeps its promises after %s', async (name) => {
  const { violations, story } = await plain.walkOne({ ...(found[name] as Course), isExact: true });
  expect([...violations, ...(violations.length > 0 ? story : [])]).toEqual([]);
});

test(
  'whatever the network, the storage and the system do to the app: its session ends only if somebody ends it',
  async () => {
    expect(await walkMany(plain, numRuns)).toBe(numRuns);
  },
  300_000 + numRuns * 5_000,
);

test(
  'whatever ends its stream: the session goes on, and has one stream again',
  async () => {
    expect(await walkMany(streamed, numStreamed)).toBe(numStreamed);
  },
  300_000 + numStreamed * 10_000,
);
