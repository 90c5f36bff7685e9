import { afterEach, describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { newEmail, password } from '../support/api/accounts.ts';
import { seedAccounts } from '../support/api/seed-accounts.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { type CompareOptions, type Comparison, compareTimes } from './compare-times.ts';

/** 100 pairs unless `LOGIN_TIMING_PAIRS` says 1000. */
const pairs = Number(process.env.LOGIN_TIMING_PAIRS || 100);

/** A hash takes about 4 ms, several times the rest of a login. */
const cost = { memoryCost: 4_096, timeCost: 3, parallelism: 1 };
let api: TestApi | undefined;
afterEach(() => api?.close());

/** Compares wrong passwords for accounts with this hash with those for unknown email addresses. */
async function compare(storedHash: string, options: CompareOptions): Promise<Comparison> {
  const started = await startTestApi({
    ARGON2_MEMORY_KIB: String(cost.memoryCost),
    ARGON2_PASSES: String(cost.timeCost),
  });
  api = started;
  const attempt = async (email = '') => {
    const start = performance.now();
    const { status, json } = await started.logIn({ email, password: 'a wrong password' });
    const ms = performance.now() - start;
    expect([status, json.error_code]).toEqual([401, 'ERR-INVALID-CREDENTIALS']);
    return ms;
  };
  const emails: string[] = [];
  const known = async () => {
    if (emails.length === 0) emails.push(...(await seedAccounts(started.collections, options.pairs, storedHash)));
    return attempt(emails.pop());
  };
  const unknown = () => attempt(newEmail());
  for (let each = 0; each < 20; each += 1) await Promise.all([known(), unknown()]);
  const comparison = await compareTimes({ known, unknown }, options);
  console.info(comparison.words);
  return comparison;
}

describe('the time of a login', () => {
  // guarantees: login-tells-nothing
  test('the time of a login does not distinguish an unknown email address from a wrong password', async () => {
    const { area, tolerance } = await compare(await hash(password, cost), { pairs, until: 'same' });
    expect(Math.abs(area - 0.5)).toBeLessThan(tolerance);
  }, 600_000);

  test('the time of a login would show a hash of twelve times the passes, on a busy machine too', async () => {
    const slowHash = await hash(password, { ...cost, timeCost: 12 * cost.timeCost });
    const { area, tolerance } = await compare(slowHash, { pairs: 30, until: 'different' });
    expect(area).toBeGreaterThan(0.5 + tolerance);
  }, 600_000);
});
