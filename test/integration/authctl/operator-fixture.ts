import type { Collections } from '@auth-account/stores';
import { createLogger } from '@auth-account/telemetry';
import { drive } from '../../support/api/api-driver.ts';
import { startTestServices } from '../../support/processes/test-services.ts';
import type { Environment } from '../../support/service-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

/** The three services in this process with a separate database and key prefix, and the environment of an operator. */
export type OperatorFixture = Awaited<ReturnType<typeof openOperatorFixture>>;

/** Starts the services or nothing, and waits until they are ready. `settings` override the environment of a test. */
export async function openOperatorFixture(settings: Environment = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = (service: string) => createLogger({ service, level: 'info', destination });
  const services = await startTestServices(settings, { logger });
  await eventually('the worker is ready', async () => (await services.worker.unreadiness()).length === 0);
  return {
    ...services,
    ...drive(services.api.send),
    /** URL of the api. */
    apiUrl: services.api.base,
    /** The environment with which authctl reaches the stores of these services. */
    options: { env: services.env },
    /** Log lines of the services, as JSON. */
    lines,
  };
}

/** Returns the number of documents by collection, without empty collections, subscribers and generations. */
export async function countStored({
  collections,
}: {
  readonly collections: Collections;
}): Promise<Record<string, number>> {
  const { subscribers: _, upgrades: __, ...others } = collections;
  const counts = await Promise.all(
    Object.entries(others).map(async ([name, collection]) => [name, await collection.countDocuments()] as const),
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
