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

type Metrics = ReturnType<typeof createMetrics>;

/** Functions by service, the last of which is the canary, that define its metrics. */
const definitions: Readonly<Record<string, (metrics: Metrics) => void>> = {
  api: (metrics) => createApiMetrics(metrics, ['apple']),
  'push-gateway': (metrics) => createPushMetrics(metrics, () => 0),
  worker(metrics) {
    createWorkerMetrics(metrics, ['analytics'], ['apple']);
    createBacklogGauges(metrics.registry, [], () => undefined);
    for (const name of workGaugeNames) createWorkGauge(metrics.registry, name, () => undefined);
  },
  console: createConsoleMetrics,
  probe: (metrics) => createProbeMetrics(metrics, () => new Date()),
};

/** Returns the metrics of each service from their definitions, with the metrics of process and event loop. */
export function findServiceMetrics(): Promise<ServiceMetrics[]> {
  return Promise.all(
    Object.entries(definitions).map(async ([service, define]) => {
      const metrics = createMetrics({ service });
      define(metrics);
      metrics.watchReadiness(async () => true);
      const described = await describe(metrics.registry); // first, because rendering renames counters
      const { body: text } = await metrics.render(undefined);
      return { job: `auth-${service}`, metrics: described, text };
    }),
  );
}

/** Fields that prom-client's types leave out. */
type WithLabelNames = { readonly labelNames: readonly string[] };

async function describe(registry: Metrics['registry']): Promise<DefinedMetric[]> {
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
