import type { Collections } from '@auth-account/stores';
import { createLogger } from '@auth-account/telemetry';
import { type ApiDriver, drive } from '../../support/api/api-driver.ts';
import { cheapHashes } from '../../support/api/groups.ts';
import { serviceEnvironment, startTestApi, type TestApi, uniqueName } from '../../support/api/test-api.ts';
import { type Endings, startWhole } from '../../support/closing.ts';
import { startTestGateway } from '../../support/gateway/gateway-fixture.ts';
import { openGreeted, type StreamClient } from '../../support/gateway/push-client.ts';
import type { AuthctlOptions } from '../../support/processes/authctl.ts';
import type { StreamTokens } from '../../support/processes/test-services.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type Receiver, startReceiver } from '../../support/worker/worker-receiver.ts';
import { startTestWorker, type TestWorker } from '../../support/worker/worker-service.ts';

/** The three services in this process with a separate database and key prefix, and the environment of an operator. */
export interface OperatorFixture extends ApiDriver {
  readonly api: TestApi;
  readonly worker: TestWorker;
  /** The subscriber `analytics`, unless the settings name others. */
  readonly receiver: Receiver;
  readonly collections: Collections;
  /** URL of the api. */
  readonly apiUrl: string;
  /** `KEY_PREFIX`. */
  readonly keyPrefix: string;
  /** The environment with which authctl reaches the stores of these services. */
  readonly options: AuthctlOptions & { readonly env: Readonly<Record<string, string>> };
  /** Log lines of the services, as JSON. */
  readonly lines: readonly string[];
  openStream(tokens: Pick<StreamTokens, 'access_token' | 'push_stream_path'>): Promise<StreamClient>;
  close(): Promise<void>;
}

/** Starts the services or nothing, and waits until they are ready. `settings` override the environment of a test. */
export function openOperatorFixture(settings: Readonly<Record<string, string>> = {}): Promise<OperatorFixture> {
  return startWhole((endings) => startParts(settings, endings));
}

/** Returns the number of documents by collection, without empty collections, subscribers and generations. */
export async function countStored({
  collections,
}: Pick<OperatorFixture, 'collections'>): Promise<Record<string, number>> {
  const { subscribers: _, upgrades: __, ...others } = collections;
  const counts = await Promise.all(
    Object.entries(others).map(async ([name, collection]) => [name, await collection.countDocuments()] as const),
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

async function startParts(
  settings: Readonly<Record<string, string>>,
  endings: Endings,
): Promise<Omit<OperatorFixture, 'close'>> {
  const started = <T extends { close(): Promise<unknown> }>(part: T): T => {
    endings.push(() => part.close());
    return part;
  };
  const keyPrefix = uniqueName();
  const receiver = started(await startReceiver('analytics'));
  const lines: string[] = [];
  const logger = (service: string) =>
    createLogger({ service, level: 'info', destination: { write: (line) => void lines.push(line) } });
  const env = {
    ...serviceEnvironment(keyPrefix),
    ...cheapHashes,
    DRAIN_SECONDS: '0',
    EVENT_SUBSCRIBERS: JSON.stringify([receiver.subscriber]),
    ...settings,
  };
  // The api ends last, because it drops the database.
  const gateway = await startTestGateway({ env }, {}, {}, logger('push-gateway'));
  endings.push(() => gateway.close());
  const api = started(await startTestApi({ ...env, PUSH_PUBLIC_URL: gateway.base }, {}, logger('api')));
  const worker = started(await startTestWorker(env, logger('worker')));
  await eventually('the gateway is ready', async () => (await gateway.unreadiness()).length === 0);
  await eventually('the worker is ready', async () => {
    return Object.values(await worker.readiness()).every((check) => check.ok);
  });
  return {
    ...drive(api.send),
    api,
    worker,
    receiver,
    collections: api.collections,
    apiUrl: api.base,
    keyPrefix,
    options: { env: serviceEnvironment(keyPrefix) },
    lines,
    openStream: ({ push_stream_path, access_token }) =>
      openGreeted(gateway.base + push_stream_path, { token: access_token }),
  };
}
