import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password, registerAccount } from '../../support/accounts.ts';
import { answerTo, begin } from '../../support/http-client.ts';
import { startTestApi, type TestApi } from '../../support/test-api.ts';

const waitMs = 3_000;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ HASH_QUEUE_TIMEOUT_MS: String(waitMs), ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' });
});
afterAll(() => api.close());

test('a login whose body takes longer than a hash may wait is hashed when it has come in', async () => {
  const { email } = await registerAccount(api);
  const body = JSON.stringify({ email, password });
  const headers = {
    'Content-Type': 'application/json',
    'X-Request-ID': 'slow-body',
    'Content-Length': String(body.length),
  };
  const slow = begin(api.base, { method: 'POST', path: '/api/v1/auth/login', headers });
  slow.flushHeaders();
  await sleep(waitMs + 200);
  expect((await answerTo(slow.end(body))).status).toBe(200);
});
