import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession } from '../../support/api/accounts.ts';
import { startTestStack, type TestStack } from '../../support/processes/test-stack.ts';

let stack: TestStack;
beforeAll(async () => {
  // Without a window every repeated refresh is late. The test cannot move the clocks of three processes instead.
  stack = await startTestStack({ REFRESH_RETRY_WINDOW: '0' });
});
afterAll(() => stack.close());

// guarantees: theft-ends-session
test('a thief who refreshes first and hides the result loses the session, its stream (4001) and all access tokens', async () => {
  const owner = await newSession(stack);
  const stream = await stack.openStream(owner);
  const refresh = (refresh_token: string) => stack.refreshTokens({ refresh_token });

  const thiefs = (await refresh(owner.refresh_token)).json.data;
  const owners = await refresh(owner.refresh_token);
  expect(owners.status).toBe(200);
  expect(owners.json.data.refresh_token).not.toBe(thiefs.refresh_token);
  const next = await refresh(owners.json.data.refresh_token);
  expect(next.status).toBe(200);
  expect(stream.isOpen()).toBe(true);

  const caught = await refresh(thiefs.refresh_token);
  expect([caught.status, caught.json.error_code]).toEqual([401, 'IAD_JWT_REFRESH_STOLEN']);
  const { code, reason } = await stream.closed;
  expect([code, reason]).toEqual([4001, 'SESSION_REVOKED']);
  for (const { access_token } of [owner, thiefs, owners.json.data, next.json.data]) {
    await expect(stack.openStream({ ...owner, access_token })).rejects.toThrow('401');
  }
  expect((await refresh(next.json.data.refresh_token)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
  expect(await stack.collections.sessions.findOne({ _id: owner.session_id })).toMatchObject({
    is_revoked: true,
    revoked_reason: 'refresh_token_reuse',
  });
});
