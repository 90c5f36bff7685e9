import { serviceEnvironment, startTestApi, type TestApi, uniqueName } from '../api/test-api.ts';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.ts';
import { openGreeted, refusalOf, type StreamClient } from '../gateway/push-client.ts';
import { type Receiver, startReceiver } from '../worker/worker-receiver.ts';
import { startTestWorker, type TestWorker } from '../worker/worker-service.ts';

/** The three services in this process, with a separate database and key prefix. */
export interface TestServices {
  /** `KEY_PREFIX` and the database's name. */
  readonly name: string;
  readonly api: TestApi;
  readonly gateway: TestGateway;
  readonly worker: TestWorker;
  readonly receiver: Receiver;
  openStream(tokens: StreamTokens): Promise<StreamClient>;
  /** Returns the status with which the gateway refuses this handshake. Throws if it opens a stream. */
  refusal(tokens: StreamTokens): Promise<number>;
  close(): Promise<void>;
}

export interface StreamTokens {
  readonly access_token: string;
  readonly session_id: string;
  readonly push_stream_path: string;
}

/**
 * `settings` override the environment of a test. `only` overrides the result for one service, for example with another
 * URL of Redis.
 */
export async function startTestServices(
  settings: Readonly<Record<string, string>> = {},
  only: Readonly<Partial<Record<'api' | 'gateway' | 'worker', Readonly<Record<string, string>>>>> = {},
): Promise<TestServices> {
  const name = uniqueName();
  const receiver = await startReceiver('analytics');
  const env = { ...serviceEnvironment(name), EVENT_SUBSCRIBERS: JSON.stringify([receiver.subscriber]), ...settings };
  const api = await startTestApi({ ...env, ...only.api });
  const worker = await startTestWorker({ ...env, ...only.worker });
  const gateway = await startTestGateway({ env }, { ...only.gateway });
  return {
    name,
    api,
    gateway,
    worker,
    receiver,
    openStream: ({ push_stream_path, access_token }) =>
      openGreeted(gateway.base + push_stream_path, { token: access_token }),
    async refusal({ session_id, access_token }) {
      return (await refusalOf(gateway.base, { sessionId: session_id, token: access_token })).status;
    },
    async close() {
      await gateway.close();
      await worker.close();
      await api.close();
      await receiver.close();
    },
  };
}

/** Opens a stream as an app does, which tries again if the connection is lost before `hello`. */
export async function openStreamAsApp(services: TestServices, session: StreamTokens): Promise<StreamClient> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await services.openStream(session);
    } catch (error) {
      if (tries === 5 || !(error instanceof Error && error.message.includes('1006'))) throw error;
    }
  }
}
