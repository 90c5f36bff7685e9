import { createMetrics } from '@auth-account/telemetry';
import { createApiMetrics } from '../../../services/api/src/runtime/metrics.ts';
import { createProbeMetrics } from '../../../services/authctl/src/probe/probe-metrics.ts';
import { createConsoleMetrics } from '../../../services/console/src/runtime/metrics.ts';
import { createPushMetrics } from '../../../services/push-gateway/src/runtime/metrics.ts';
import {
  createBacklogGauges,
  createWorkerMetrics,
  createWorkGauge,
  workGaugeNames,
} from '../../../services/worker/src/runtime/metrics.ts';

/** A metric as a service defines it. */
export interface DefinedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** The initial values of each label. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
}

export interface ServiceMetrics {
  /** The value of the label `job` in rules and dashboards. */
  readonly job: string;
  readonly metrics: readonly DefinedMetric[];
  /** The answer to a scrape, in the Prometheus text format. */
  readonly text: string;
}

/**
 * Returns the metrics of each service and of the canary, from their definitions, with the metrics of process and event
 * loop.
 */
export async function findServiceMetrics(): Promise<ServiceMetrics[]> {
  const api = createMetrics({ service: 'api' });
  const gateway = createMetrics({ service: 'push-gateway' });
  const worker = createMetrics({ service: 'worker' });
  const console = createMetrics({ service: 'console' });
  const probe = createMetrics({ service: 'probe' });
  createApiMetrics(api, ['apple']);
  createPushMetrics(gateway, () => 0);
  createWorkerMetrics(worker, ['analytics'], ['apple']);
  createBacklogGauges(worker.registry, [], () => undefined);
  for (const name of workGaugeNames) createWorkGauge(worker.registry, name, () => undefined);
  createConsoleMetrics(console);
  createProbeMetrics(probe, () => new Date());
  const all = [
    { job: 'auth-api', metrics: api },
    { job: 'auth-push-gateway', metrics: gateway },
    { job: 'auth-worker', metrics: worker },
    { job: 'auth-console', metrics: console },
    { job: 'auth-probe', metrics: probe },
  ];
  return Promise.all(
    all.map(async ({ job, metrics }) => {
      metrics.watchReadiness(async () => true);
      const described = await describe(metrics.registry); // first, because rendering renames counters
      const { body: text } = await metrics.render(undefined);
      return { job, metrics: described, text };
    }),
  );
}

type Registry = ReturnType<typeof createMetrics>['registry'];

/** Fields that prom-client's types leave out. */
type WithLabelNames = { readonly labelNames: readonly string[] };

async function describe(registry: Registry): Promise<DefinedMetric[]> {
  const described = await registry.getMetricsAsJSON();
  return described.map(({ name, type, help, values }) => {
    const { labelNames } = registry.getSingleMetric(name) as unknown as WithLabelNames;
    const valuesOf = (label: string) => values.map(({ labels }) => (labels as Record<string, unknown>)[label]);
    const labels = labelNames.map((label): [string, string[]] => {
      const known = valuesOf(label).filter((value) => value !== undefined);
      return [label, [...new Set(known.map(String))]];
    });
    return { name, type: String(type), help, labels: new Map(labels) };
  });
}
