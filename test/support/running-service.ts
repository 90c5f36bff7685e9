import type { CheckResult, ServiceParts } from '@auth-account/lifecycle';
import type { Metrics } from '@auth-account/telemetry';
import type { Environment } from './service-environment.ts';

export type RunningService = Awaited<ReturnType<typeof runService>>;

/** Starts a service of this process, or ends what has started of it. */
export async function runService({ start, readiness, shutdown }: ServiceParts, { registry }: Metrics) {
  let closed: Promise<void> | undefined;
  const stop = async () => {
    for (const step of shutdown) await step.run();
  };
  const running = {
    /** Returns the sum of a metric's values with these labels. */
    async metric(name: string, labels: Environment = {}): Promise<number> {
      const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
      const isWanted = (given: object) =>
        Object.entries(labels).every(([label, text]) => Reflect.get(given, label) === text);
      return values.filter((value) => isWanted(value.labels)).reduce((sum, { value }) => sum + value, 0);
    },
    /** Returns the result of each check by its name. */
    async readiness(): Promise<Record<string, CheckResult>> {
      const asked = readiness.map(async ({ name, run }) => {
        const result = await (async () => run())().catch((error: Error) => ({ ok: false, reason: error.message }));
        return [name, result] as const;
      });
      return Object.fromEntries(await Promise.all(asked));
    },
    /** Returns name and reason of each check that fails. */
    async unreadiness(): Promise<string[]> {
      const results = Object.entries(await running.readiness());
      return results.flatMap(([name, { ok, reason }]) => (ok ? [] : [`${name}: ${reason}`]));
    },
    /** Ends the service in an orderly way, once. */
    async close(): Promise<void> {
      closed ??= stop();
      await closed;
    },
  };
  try {
    await start();
  } catch (error) {
    await running.close();
    throw error;
  }
  return running;
}
