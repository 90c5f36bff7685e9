import type { Logger } from '@auth-account/telemetry';
import type { TokenPair } from '../api/accounts.ts';
import { startApiOn } from '../api/test-api.ts';
import { startWhole } from '../closing.ts';
import { openFixture, quietLogger } from '../fixture.ts';
import { startReadyGateway } from '../gateway/gateway-fixture.ts';
import { openGreeted, refusalOf, type StreamClient } from '../gateway/push-client.ts';
import type { Environment } from '../service-environment.ts';
import { startReceiver } from '../worker/worker-receiver.ts';
import { startTestWorker } from '../worker/worker-service.ts';

/** The three services and a subscriber in this process, on a fixture. */
export type TestServices = Awaited<ReturnType<typeof startTestServices>>;

export interface TestServicesOptions {
  /** Settings of the worker alone. */
  readonly worker?: Environment;
  /** The clock of api and gateway. */
  readonly now?: () => number;
  readonly logger?: (service: string) => Logger;
}

/**
 * Starts the services or nothing, and waits until the gateway is ready. The worker delivers events to the receiver,
 * unless `settings`, which override the environment of a test, name other subscribers.
 */
export function startTestServices(settings: Environment = {}, options: TestServicesOptions = {}) {
  const { worker: ofWorker, logger = quietLogger, ...clock } = options;
  return startWhole(async (endings) => {
    const receiver = await startReceiver('analytics');
    endings.push(receiver.close);
    const EVENT_SUBSCRIBERS = JSON.stringify([receiver.subscriber]);
    const fixture = await openFixture({ EVENT_SUBSCRIBERS, DRAIN_SECONDS: '0', ...settings });
    endings.push(fixture.close);
    const { env, closing } = fixture;
    const worker = closing(await startTestWorker({ ...env, ...ofWorker }, logger('worker')));
    const gateway = closing(await startReadyGateway({ env }, {}, clock, logger('push-gateway')));
    const api = await startApiOn(fixture, { PUSH_PUBLIC_URL: gateway.base }, clock, logger('api'));
    return {
      ...fixture,
      api,
      gateway,
      worker,
      receiver,
      openStream: ({
        push_stream_path,
        access_token,
      }: Pick<TokenPair, 'push_stream_path' | 'access_token'>): Promise<StreamClient> =>
        openGreeted(gateway.base + push_stream_path, { token: access_token }),
      /** Returns the status with which the gateway refuses this handshake. Throws if it opens a stream. */
      async refusal({ session_id, access_token }: Pick<TokenPair, 'session_id' | 'access_token'>): Promise<number> {
        return (await refusalOf(gateway.base, { sessionId: session_id, token: access_token })).status;
      },
    };
  });
}
