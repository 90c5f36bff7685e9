import { afterEach, expect, test } from '@jest/globals';
import { newEmail } from '../support/accounts.ts';
import { areaUnderCurve, median } from '../support/area-under-curve.ts';
import { makeResendDue, requestReset } from '../support/codes.ts';
import { seedAccounts } from '../support/seed-accounts.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

/**
 * 100 pairs unless `CODE_TIMING_PAIRS` says 1000. For two equal distributions the AUC is normally distributed around
 * 0.5. Its standard deviation is √(1 / 6n): 0.041 for 100 pairs, 0.013 for 1,000. The bounds are four deviations away.
 */
const pairs = Number(process.env.CODE_TIMING_PAIRS || 100);
const tolerance = pairs >= 1_000 ? 0.05 : 0.165;
const warmUps = 20;
const path = '/api/v1/auth/password-reset';

let api: TestApi | undefined;
afterEach(() => api?.close());

/** A step with an address, and the status of its answer. */
interface Step {
  readonly status: number;
  /** Prepares the request, outside the time that is measured. */
  prepare(on: TestApi, email: string): Promise<{ readonly path: string; readonly body: object }>;
}

const steps: Readonly<Record<string, Step>> = {
  'a request for a code': { status: 202, prepare: async (_on, email) => ({ path, body: { email } }) },
  'a resend': {
    status: 202,
    async prepare(on, email) {
      const challenge_id = await requestReset(on, email);
      await makeResendDue(on, challenge_id);
      return { path: `${path}/resend`, body: { challenge_id } };
    },
  },
  'a confirmation with a wrong code': {
    status: 403,
    async prepare(on, email) {
      const challenge_id = await requestReset(on, email);
      return { path: `${path}/confirm`, body: { challenge_id, code: '00000000', new_password: 'three wrong staples' } };
    },
  },
};

test.each(Object.entries(steps))(
  'the time of %s does not tell a known address from an unknown one',
  async (_, step) => {
    const on = await startTestApi();
    api = on;
    const emails = await seedAccounts(on.collections, pairs + warmUps, 'no hash is read');
    const attempt = async (email: string) => {
      const request = await step.prepare(on, email);
      const start = performance.now();
      const { status } = await on.post(request.path, request.body);
      const ms = performance.now() - start;
      expect(status).toBe(step.status);
      return ms;
    };
    for (const email of emails.splice(0, warmUps)) await Promise.all([attempt(email), attempt(newEmail())]);
    const [known, unknown]: [number[], number[]] = [[], []];
    for (const email of emails) {
      const takeKnown = async () => known.push(await attempt(email));
      const takeUnknown = async () => unknown.push(await attempt(newEmail()));
      const order = Math.random() < 0.5 ? [takeKnown, takeUnknown] : [takeUnknown, takeKnown];
      for (const take of order) await take();
    }
    const area = areaUnderCurve(known, unknown);
    const medians = [known, unknown].map((values) => median(values).toFixed(2));
    console.info(`${pairs} pairs: AUC ${area.toFixed(3)}, medians ${medians.join(' and ')} ms`);
    expect(Math.abs(area - 0.5)).toBeLessThan(tolerance);
  },
  600_000,
);
