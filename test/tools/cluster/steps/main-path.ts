import { strict as assert } from 'node:assert';
import { registeredTopic } from '@auth-account/contracts';
import type { Cluster } from '../cluster.ts';

/** Walks the main path through the names of the Services, as an ingress does with an app's requests. */
export async function checkMainPath({ reporter, agent }: Cluster): Promise<void> {
  await reporter.check(
    'main path through the Services: the event arrives, logout closes the stream with 1000',
    async () => {
      const target = { api: 'http://auth-account-api', push: 'http://auth-account-push-gateway' };
      const walked = await agent.call('walkMainPath', target);
      assert.equal(`${walked.code} ${walked.reason}`, '1000 LOGOUT_CONFIRMED');
      assert.equal(walked.eventType, registeredTopic);
      assert.equal(walked.again, 404, 'status of the second logout');
      const { registerMs, loginMs, logoutMs, closeMs, eventMs } = walked;
      const ms = (value: number) => `${value.toFixed(1)} ms`;
      return [
        `register ${ms(registerMs)}, login ${ms(loginMs)}, logout ${ms(logoutMs)}`,
        `logout to close frame ${ms(closeMs)}; 201 to event at the subscriber ${ms(eventMs)}`,
      ];
    },
  );
}

/** Runs `helm test`, which is the chart's own canary. */
export async function checkHelmTest(
  { reporter, kubernetes }: Cluster,
  signInMethod = 'through the Services',
): Promise<void> {
  await reporter.check(`helm test --logs: the canary walks the path ${signInMethod}`, async () => {
    const said = await kubernetes.helm(['test', 'auth-account', '--logs', '--timeout', '90s']);
    assert.match(said, /^close +ok/m, 'log of the canary');
    return said.split('\n').filter((line) => /^(Phase|Logout to close)/.test(line));
  });
}
