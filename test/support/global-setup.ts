import { startProvider } from '@auth-account/local-stack/provider';
import { startTestServers, type TestServers } from './start-test-servers.ts';

declare global {
  /** Passed from the set-up to the teardown; Jest runs both in its parent process. */
  var testServers: TestServers | undefined;
}

/** Starts the servers that the tests share. Each test file creates its own database and key prefix in them. */
export default async function setUp(): Promise<void> {
  const servers = await startTestServers((line) => console.error(line));
  globalThis.testServers = servers;
  // It ends with this process.
  const provider = await startProvider();
  process.env.TEST_PROVIDER_URL = provider.issuer;
  process.env.TEST_PROVIDER_KEY = JSON.stringify(await provider.privateKey());
}
