import { startTestServices } from '../support/processes/test-services.ts';

/** The real api, gateway and worker on the shared MongoDB and Redis. */
export type AccountFixture = Awaited<ReturnType<typeof openAccountFixture>>;

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

export const openAccountFixture = () => startTestServices({ ...limits, EVENT_SUBSCRIBERS: '[]' }, { worker: calm });
