import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newSeeds } from './new-seeds.ts';
import { newSessionModel, present } from './session-model.ts';
import { newSimulatedSession, simulateRefresh } from './simulate-refresh.ts';

const nextSeed = newSeeds();
const windowMs = 30_000;
const lifetime = { idle: Number.MAX_SAFE_INTEGER, absolute: Number.MAX_SAFE_INTEGER };
const runs = Number(process.env.MODEL_SECONDS ?? 6) * 500;

/** Any generation near the existing ones, at any time. Tokens of owner, thief and twin are treated alike. */
const step = fc.record({
  /** Generations back from the newest. A number below 0 is a future generation, as after a restored backup. */
  back: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 3 }) }, fc.integer({ min: -4, max: 12 })),
  passes: fc.oneof(fc.constantFrom(0, 1, 29_999, 30_000, 30_001), fc.integer({ min: 0, max: 4 * 3_600_000 })),
});

test('decideRefresh answers as the model does, whatever is presented when', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      let at = 0;
      let real = newSimulatedSession(at);
      let model = newSessionModel(at, lifetime);
      for (const { back, passes } of steps) {
        at += passes;
        const token = Math.max(0, model.newest - back);
        const done = simulateRefresh(real, token, at, windowMs);
        const presented = present(model, token, at, { windowMs, idle: lifetime.idle });
        expect(done.answer).toBe('answer' in presented.expected ? presented.expected.answer : undefined);
        real = done.session;
        model = presented.session;
        expect({ gen: real.gen, parent: real.parent }).toEqual({ gen: model.newest, parent: model.parent });
      }
    }),
    { numRuns: runs, ...nextSeed() },
  );
});

test('generations only rise, and a token that was once refused for good never counts again', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let at = 0;
      let session = newSimulatedSession(at);
      for (const { back, passes } of steps) {
        at += passes;
        const { floor, gen } = session;
        session = simulateRefresh(session, Math.max(0, gen - back), at, windowMs).session;
        expect(session.gen).toBeGreaterThanOrEqual(gen);
        expect(session.floor).toBeGreaterThanOrEqual(floor);
        expect(session.parent).toBeLessThanOrEqual(session.floor);
        expect(session.floor).toBeLessThan(session.gen);
      }
    }),
    { numRuns: runs / 2, ...nextSeed() },
  );
});
