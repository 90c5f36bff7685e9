import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail } from '../support/api/accounts.ts';
import { requestTo } from '../support/api/api-driver.ts';
import { makeResendDue, requestReset } from '../support/api/codes.ts';
import { seedAccounts } from '../support/api/seed-accounts.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { SentRequest } from '../support/http-client.ts';
import { compareTimes } from './compare-times.ts';

/** 100 pairs unless `CODE_TIMING_PAIRS` says 1000. */
const pairs = Number(process.env.CODE_TIMING_PAIRS || 100);
const warmUps = 20;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

/** A step with an email address, and the status of its answer. */
interface Step {
  readonly status: number;
  /** Prepares the request, outside the time that is measured. */
  prepare(on: TestApi, email: string): Promise<SentRequest>;
}

const steps: Readonly<Record<string, Step>> = {
  'a request for a code': { status: 202, prepare: async (_on, email) => requestTo('requestPasswordReset', { email }) },
  'a resend': {
    status: 202,
    async prepare(on, email) {
      const challenge_id = await requestReset(on, email);
      await makeResendDue(on, challenge_id);
      return requestTo('resendPasswordReset', { challenge_id });
    },
  },
  'a confirmation with a wrong code': {
    status: 403,
    async prepare(on, email) {
      const challenge_id = await requestReset(on, email);
      return requestTo('confirmPasswordReset', { challenge_id, code: '00000000', new_password: 'three wrong staples' });
    },
  },
};

// guarantees: reset-tells-nothing
test.each(Object.entries(steps))(
  'the time of %s does not distinguish a known email address from an unknown one',
  async (_, step) => {
    const attempt = async (email = '') => {
      const request = await step.prepare(api, email);
      const start = performance.now();
      const { status } = await api.send(request);
      const ms = performance.now() - start;
      expect(status).toBe(step.status);
      return ms;
    };
    const emails: string[] = [];
    const known = async () => {
      if (emails.length === 0) emails.push(...(await seedAccounts(api.collections, pairs, 'no hash is read')));
      return attempt(emails.pop());
    };
    const unknown = () => attempt(newEmail());
    for (let each = 0; each < warmUps; each += 1) await Promise.all([known(), unknown()]);
    const { area, tolerance, words } = await compareTimes({ known, unknown }, { pairs, until: 'same' });
    console.info(words);
    expect(Math.abs(area - 0.5)).toBeLessThan(tolerance);
  },
  600_000,
);
