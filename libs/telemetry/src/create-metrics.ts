import { readFileSync } from 'node:fs';
import {
  collectDefaultMetrics,
  Gauge,
  type OpenMetricsContentType,
  openMetricsContentType,
  prometheusContentType,
  Registry,
} from 'prom-client';
import { toPrometheusText } from './to-prometheus-text.ts';

export interface Metrics {
  /** Where a service registers its own: `new Counter({ …, registers: [metrics.registry] })`. Exemplars work. */
  readonly registry: Registry<OpenMetricsContentType>;
  /** The metrics in the format that an Accept header asks for: OpenMetrics 1.0, else the Prometheus text format. */
  render(accept: string | undefined): Promise<{ readonly contentType: string; readonly body: string }>;
  /** Exports `auth_ready`; `isReady` is asked at each scrape. */
  watchReadiness(isReady: () => Promise<boolean>): void;
}

function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return manifest.version;
}

/** Makes a service's metrics, with those of the process, of the event loop's lag, and `auth_build_info`. */
export function createMetrics({ service }: { readonly service: string }): Metrics {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(openMetricsContentType); // before the first metric: exemplars are refused otherwise
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'auth_build_info',
    help: 'Which build runs here; the value is always 1',
    labelNames: ['service', 'version', 'node'],
    registers: [registry],
  }).set({ service, version: ownVersion(), node: process.version }, 1);

  return {
    registry,
    async render(accept) {
      const body = await registry.metrics();
      return accept?.includes('application/openmetrics-text')
        ? { contentType: registry.contentType, body }
        : { contentType: prometheusContentType, body: toPrometheusText(body) };
    },
    watchReadiness(isReady) {
      new Gauge({
        name: 'auth_ready',
        help: '1 where /readyz answers 200, else 0',
        registers: [registry],
        async collect() {
          this.set((await isReady()) ? 1 : 0);
        },
      });
    },
  };
}
