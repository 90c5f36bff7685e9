import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { password, registerAccount } from '../../support/api/accounts.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { answerTo, begin } from '../../support/http-client.ts';

const waitMs = 60_000;

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
  const realNow = performance.now.bind(performance);
  let passedMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs);
  try {
    const begun = requestBegun();
    const slow = begin(api.base, { method: 'POST', path: routes.logIn.path, headers });
    slow.flushHeaders();
    await begun;
    passedMs = waitMs + 1;
    expect((await answerTo(slow.end(body))).status).toBe(200);
  } finally {
    clock.mockRestore();
  }
});

/** Resolves when a server of this process has received the head of a request, and has begun to work on it. */
async function requestBegun(): Promise<void> {
  const channel = 'http.server.request.start';
  const { promise, resolve } = Promise.withResolvers<void>();
  const begin = () => setImmediate(resolve);
  subscribe(channel, begin);
  await promise;
  unsubscribe(channel, begin);
}
