import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiBy } from '../agent-client.ts';
import type { Cluster } from '../cluster.ts';

/** Values of a release whose services send to the receiver the traces that a client asks for. */
export const traced = [
  ...['tracing.endpoint=http://receiver:8090', 'tracing.protocol=http/json', 'tracing.samplerArg=0'],
  'tracing.networkPolicy.ports={8090}',
].flatMap((setting) => ['--set', setting]);

/** Makers of the spans in the trace of a registration, by service: scopes of OpenTelemetry, or stores. */
const expected = [
  ...['auth-api mongodb', 'auth-api redis', 'auth-api auth-account', 'auth-api bullmq'],
  ...['auth-worker mongodb', 'auth-worker redis', 'auth-worker auth-account', 'auth-worker bullmq'],
  'auth-worker @opentelemetry/instrumentation-undici',
];

/** Several times the 5 s after which a service sends its spans. */
const limitMs = 60_000;

/** Looks for the spans of each, because a package in a bundle is not instrumented. */
export async function checkTraces({ reporter, agent }: Cluster): Promise<void> {
  await reporter.check('a registration is one trace, with the spans of MongoDB, Redis, BullMQ and fetch', async () => {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const email = `${crypto.randomUUID()}@cluster.invalid`;
    const body = { email, password: 'correct horse battery staple', space_creation_mode: 'CREATE_NEW_HOME' };
    assert.equal((await apiBy(agent).registerAccount(body, headers)).status, 201);
    const until = performance.now() + limitMs;
    for (;;) {
      const spans = { url: `http://127.0.0.1:8090/spans/${traceId}`, method: 'GET' };
      const { json: found } = await agent.call('ask', spans);
      const missing = expected.filter((one) => !found.includes(one));
      if (missing.length === 0) return [`${found.length} spans of ${expected.length} makers`];
      assert.ok(performance.now() < until, `no span of ${missing.join(', ')}`);
      await sleep(500);
    }
  });
}
