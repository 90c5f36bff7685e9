import { afterEach, describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { newEmail, password } from '../support/accounts.ts';
import { areaUnderCurve, median } from '../support/area-under-curve.ts';
import { seedAccounts } from '../support/seed-accounts.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

/**
 * 200 pairs unless `LOGIN_TIMING_PAIRS` says 1000. For two equal distributions the AUC is normally distributed around
 * 0.5. Its standard deviation is √(1 / 6n): 0.029 for 200 pairs, 0.013 for 1,000. The bounds are four deviations away.
 */
const pairs = Number(process.env.LOGIN_TIMING_PAIRS || 200);
const tolerance = pairs >= 1_000 ? 0.05 : 0.12;

/** A hash takes about 4 ms, several times the rest of a login. */
const cost = { memoryCost: 4_096, timeCost: 3, parallelism: 1 };
let api: TestApi | undefined;
afterEach(() => api?.close());

/** Sends wrong passwords in pairs, for an account with this hash and for an unknown address, in random order. */
async function measure(
  storedHash: string,
  count = pairs,
): Promise<{ readonly known: number[]; readonly unknown: number[] }> {
  const started = await startTestApi({
    ARGON2_MEMORY_KIB: String(cost.memoryCost),
    ARGON2_PASSES: String(cost.timeCost),
  });
  api = started;
  const emails = await seedAccounts(started.collections, count + 20, storedHash);
  const attempt = async (email: string) => {
    const start = performance.now();
    const { status, json } = await started.post('/api/v1/auth/login', { email, password: 'a wrong password' });
    const ms = performance.now() - start;
    expect([status, json.error_code]).toEqual([401, 'ERR-INVALID-CREDENTIALS']);
    return ms;
  };
  for (const email of emails.splice(0, 20)) await Promise.all([attempt(email), attempt(newEmail())]);
  const [known, unknown]: [number[], number[]] = [[], []];
  for (const email of emails) {
    const takeKnown = async () => known.push(await attempt(email));
    const takeUnknown = async () => unknown.push(await attempt(newEmail()));
    const order = Math.random() < 0.5 ? [takeKnown, takeUnknown] : [takeUnknown, takeKnown];
    for (const take of order) await take();
  }
  return { known, unknown };
}

describe('the time of a login', () => {
  test('the time of a login does not tell an unknown address from a wrong password', async () => {
    const { known, unknown } = await measure(await hash(password, cost));
    const area = areaUnderCurve(known, unknown);
    console.info(
      `${pairs} pairs: AUC ${area.toFixed(3)}, medians ${median(known).toFixed(2)} and ${median(unknown).toFixed(2)} ms`,
    );
    expect(Math.abs(area - 0.5)).toBeLessThan(tolerance);
  });

  test('the time of a login would show a hash of twelve times the passes, on a busy machine too', async () => {
    const { known, unknown } = await measure(await hash(password, { ...cost, timeCost: 12 * cost.timeCost }), 40);
    const area = areaUnderCurve(known, unknown);
    console.info(`twelve times the passes: AUC ${area.toFixed(3)}`);
    expect(area).toBeGreaterThan(0.5 + tolerance);
  });
});
