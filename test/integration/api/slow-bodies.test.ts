import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password, registerAccount } from '../../support/accounts.ts';
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
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'slow-body', 'Content-Length': body.length };
  const slow = request(`${api.base}/api/v1/auth/login`, { method: 'POST', agent: false, headers });
  slow.flushHeaders();
  await sleep(waitMs + 200);
  slow.end(body);
  const [answer] = (await once(slow, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(200);
});
