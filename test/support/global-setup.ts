import { startProvider } from '@auth-account/local-stack/provider';
import { startTestServers, type TestServers } from './stores/start-test-servers.ts';

declare global {
  /** Passed from the set-up to the teardown; Jest runs both in its parent process. */
  var testServers: TestServers | undefined;
}

/** Starts the servers that the tests share. Each test file creates its own database and key prefix in them. */
export default async function setUp(): Promise<void> {
  globalThis.testServers = await startSharedServers();
  process.env.TEST_DATABASE_POOL = '1';
}

/** Starts MongoDB, Redis and a provider, which ends with this process. The environment of this process names them. */
export async function startSharedServers(): Promise<TestServers> {
  // Tests store documents whose time is over, which MongoDB would delete at some time in each minute.
  const setParameters = { ttlMonitorEnabled: 'false' };
  const servers = await startTestServers((line) => console.error(line), { setParameters });
  const provider = await startProvider();
  process.env.TEST_PROVIDER_URL = provider.issuer;
  process.env.TEST_PROVIDER_KEY = JSON.stringify(await provider.privateKey());
  return servers;
}
