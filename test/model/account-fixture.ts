import { cheapHashes } from '../support/api/groups.ts';
import { serviceEnvironment, startTestApi, type TestApi } from '../support/api/test-api.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway-fixture.ts';
import { eventually } from '../support/worker/worker-fixture.ts';
import { startTestWorker } from '../support/worker/worker-service.ts';

/** The real api, gateway and worker on the shared MongoDB and Redis. */
export interface AccountFixture {
  readonly api: TestApi;
  readonly env: Readonly<Record<string, string>>;
  readonly gateway: TestGateway;
  close(): Promise<void>;
}

/** Limits that no course reaches, while failures of unknown devices are counted separately. */
const limits = {
  TRUST_PROXY_HOPS: '1',
  CODE_LIMIT_PER_ACCOUNT: '100',
  LOGIN_FREE_FAILURES: '15',
  LOGIN_KNOWN_FAILURES_PER_DAY: '100',
  LOGIN_ACCOUNT_FREE_FAILURES: '1000000',
};

/** Long intervals, because the worker only repairs what was lost, except for removals of second factors. */
const calm = {
  RELAY_INTERVAL_MS: '1000',
  DENY_LIST_INTERVAL_MS: '1000',
  ERASURE_INTERVAL_MS: '500',
  ERASURE_DELAY_SECONDS: '0',
};

export async function openAccountFixture(): Promise<AccountFixture> {
  const api = await startTestApi({ ...cheapHashes, ...limits });
  const env = { ...serviceEnvironment(api.database), KEY_PREFIX: api.keyPrefix, DRAIN_SECONDS: '0' };
  const worker = await startTestWorker({ ...env, ...calm, EVENT_SUBSCRIBERS: '[]' });
  const gateway = await startTestGateway({ env });
  await eventually('the gateway is ready', async () => (await gateway.unreadiness()).length === 0);
  return {
    api,
    env,
    gateway,
    async close() {
      await gateway.close();
      await worker.close();
      await api.close();
    },
  };
}
