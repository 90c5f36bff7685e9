import { createServer } from 'node:http';
import { startProvider } from '@auth-account/local-stack/provider';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { requestLimits } from '../../services/api/src/limits/limits-table.ts';
import { password, registerAccount } from '../support/api/accounts.ts';
import { withHeaders } from '../support/api/api-driver.ts';
import { exchangingEntry, newHome, newPerson, requestProviderLogin } from '../support/api/providers.ts';
import { startTestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { listen } from '../support/listen.ts';
import type { Timed } from '../support/timed.ts';
import { type Flood, floodLogins } from './floods/login-flood.ts';

/** Sends a request anew while the answer is 503: if the machine stalls, the time for a provider's keys may pass. */
async function patiently(sendOnce: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await sendOnce();
    if (answer.status !== 503 || tries === 20) return answer;
  }
}

const count = 400;
const hashMemoryMib = 256;

/** MiB for everything but the hashes: the connections, their requests, and garbage not collected yet. */
const otherMemoryMib = 192;

let flood: Flood;
beforeAll(async () => {
  // Without bounds, a machine with many cores would shed nothing.
  const bounds = { HASH_CONCURRENCY: '2', HASH_QUEUE_LIMIT: '32', HASH_MEMORY_MIB: String(hashMemoryMib) };
  // A busy machine may need a second for the new connections alone.
  const env = { ...bounds, HASH_QUEUE_TIMEOUT_MS: '3000' };
  flood = await floodLogins({ logins: count, env });
});

describe('many logins at once', () => {
  test('each of many logins at once is answered 200, 401 or 503', () => {
    expect(flood.logins).toHaveLength(count);
    expect(flood.logins.filter(({ status }) => ![200, 401, 503].includes(status))).toEqual([]);
  });

  // guarantees: login-flood
  test('the hash queue admits right and wrong logins as far as it goes, and the rest get 503', () => {
    const countOf = (wanted: number) => flood.logins.filter(({ status }) => status === wanted).length;
    expect(countOf(503)).toBeGreaterThan(0);
    expect(countOf(200)).toBeGreaterThan(0);
    expect(countOf(401)).toBeGreaterThan(0);
  });

  test('each 503 to a flood of logins has a Retry-After', () => {
    const shed = flood.logins.filter(({ status }) => status === 503);
    expect(shed.filter(({ retryAfter }) => !/^[1-9]\d*$/.test(retryAfter ?? ''))).toEqual([]);
  });

  // guarantees: login-flood
  test('a flood of logins takes no more memory than the hashes may', () => {
    expect(flood.memoryPeak - flood.memoryBefore).toBeLessThan(hashMemoryMib + otherMemoryMib);
  });

  // guarantees: login-flood
  test('during a flood of logins, public keys and refreshes are answered 200', () => {
    const { keys, refreshes } = flood;
    expect(keys.length).toBeGreaterThan(1);
    expect(refreshes.some(({ status }) => status === 200)).toBe(true);
    // If the machine stalls, MongoDB's own time-out may pass.
    const isOurs = ({ status, code }: Timed) => status !== 200 && code !== 'ERR-DEPENDENCY-UNAVAILABLE';
    expect([...keys, ...refreshes].filter(isOurs)).toEqual([]);
  });
});

test('while a provider answers a byte a second, 200 logins with its codes hold few connections and no other login', async () => {
  const issuer = await startProvider();
  let [held, most] = [0, 0];
  const slow = createServer((_, res) => {
    held += 1;
    most = Math.max(most, held);
    const drip = setInterval(() => res.write(' '), 1_000);
    res.once('close', () => {
      clearInterval(drip);
      held -= 1;
    });
  });
  const { url, close } = await listen(slow);
  const token_endpoint = `${url}/token`;
  const IDENTITY_PROVIDERS = JSON.stringify([{ ...exchangingEntry(issuer), token_endpoint }]);
  const ofProduction = Object.values(requestLimits).map((row) => [row.setting, String(row.default)]);
  const api = await startTestApi({ IDENTITY_PROVIDERS, TRUST_PROXY_HOPS: '1', ...Object.fromEntries(ofProduction) });
  try {
    const { email } = await registerAccount(api);
    const bodies = Array.from({ length: 200 }, async () => {
      const { challenge_id, nonce } = await requestProviderLogin(api);
      const id_token = await issuer.sign({ ...newPerson(), aud: 'app', nonce });
      return { challenge_id, id_token, authorization_code: 'any', ...newHome };
    });
    const logins = (await Promise.all(bodies)).map((body, i) =>
      patiently(() =>
        withHeaders(api, { 'X-Forwarded-For': `198.18.0.${i}` }).logInByProvider({ provider: 'office', ...body }),
      ),
    );
    let isOver = false;
    const all = Promise.all(logins).finally(() => {
      isOver = true;
    });
    const others: number[] = [];
    const logIn = () => api.logIn({ email, password });
    while (!isOver) others.push((await patiently(logIn)).status);
    expect(new Set((await all).map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(others)).toEqual(new Set([200]));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(32);
    expect(held).toBe(0);
  } finally {
    await api.close();
    await close();
    await issuer.close();
  }
});
