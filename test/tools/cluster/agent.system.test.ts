import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestGateway } from '../../support/gateway/gateway-fixture.ts';
import { startTestStack, type TestStack } from '../../support/processes/test-stack.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { type AgentClient, openAgentHere } from './agent-client.ts';

let stack: TestStack;
let agent: AgentClient;

beforeAll(async () => {
  stack = await startTestStack({ DRAIN_SECONDS: '1' });
  // The stack's addresses need no name, but a call by name shows that the agent resolves it.
  agent = await openAgentHere({ AGENT_HOSTS: '.cluster.invalid=127.0.0.1' });
});
afterAll(async () => {
  await agent?.close();
  await stack?.close();
});

test('the streams of the fleet come back by the client when a gateway has drained, and each end is counted', async () => {
  await agent.call('startFleet', { api: stack.apiUrl, push: stack.pushUrl, streams: 2 });
  const gateway = stack.services['push-gateway'];
  const before = gateway.restarts();
  gateway.kill('SIGTERM');
  await waitUntil(async () => gateway.restarts() > before, { what: 'the gateway to drain', timeoutMs: 60_000 });
  await gateway.waitUntilReady();
  const seen = { open: 2, closed: { '1001 SERVER_DRAINING': 2 }, reopened: 2 };
  expect(await agent.call('lookAtFleet')).toMatchObject(seen);
  expect(await agent.call('stopFleet')).toMatchObject({ open: 2, closed: {}, reopened: 0 });
});

test('a logout closes the stream that the agent has opened itself', async () => {
  const order = { apis: [stack.apiUrl], gateways: [stack.pushUrl], each: 1 };
  expect(await agent.call('logOutAcross', order)).toMatchObject([{ ends: ['1000 LOGOUT_CONFIRMED'], strays: 0 }]);
});

test.each(['header', 'subprotocol'] as const)(
  'each end of a stream by %s is reported with its code and reason',
  async (by) => {
    const byName = (url: string) => url.replace('127.0.0.1', 'auth.cluster.invalid');
    const reports = await agent.call('walkCloses', { api: byName(stack.apiUrl), push: byName(stack.pushUrl), by });
    expect(reports.map(({ end }) => end)).toEqual([
      '1000 LOGOUT_CONFIRMED',
      '4001 SESSION_REVOKED',
      '4005 SESSION_REPLACED',
      '4003 STREAM_REPLACED',
      '4004 GROUP_CHANGED',
      expect.stringContaining('401'),
    ]);
  },
);

test('the end of a stream whose token nobody renews is reported', async () => {
  let aheadMs = 0;
  const env = { ...serviceEnvironment(stack.collections.users.dbName), REDIS_URL: stack.redis.url };
  const gateway = await startTestGateway({ env }, {}, { now: () => Date.now() + aheadMs });
  try {
    const isTrue = (what: string, check: () => Promise<boolean>) => waitUntil(check, { what, timeoutMs: 60_000 });
    await isTrue('the gateway to be ready', async () => (await gateway.unreadiness()).length === 0);
    const reports = agent.call('outliveTokens', { api: stack.apiUrl, push: gateway.base });
    await isTrue('both streams', async () => (await gateway.metric('push_streams_open')) === 2);
    // A token lives for ten minutes, and its stream for 30 s more.
    aheadMs = 631_000;
    const ends = ['header', 'subprotocol'].map((by) => ({ signInMethod: `token by ${by}`, end: '4002 TOKEN_EXPIRED' }));
    expect(await reports).toMatchObject(ends);
  } finally {
    await gateway.close();
  }
});

test('idle streams stay open until the agent looks at them', async () => {
  await agent.call('holdIdle', { targets: [{ api: stack.apiUrl, push: stack.pushUrl }], each: 2 });
  expect(await agent.call('lookAtIdle')).toMatchObject({ open: 2, ends: [] });
});
