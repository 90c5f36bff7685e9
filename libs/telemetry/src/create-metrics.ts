import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type OpenMetricsContentType,
  openMetricsContentType,
  prometheusContentType,
  Registry,
} from 'prom-client';
import manifest from '../package.json' with { type: 'json' };

export interface Metrics {
  /**
   * Registry for a service's own metrics: `new Counter({ …, registers: [metrics.registry] })`. It supports exemplars.
   */
  readonly registry: Registry<OpenMetricsContentType>;
  /**
   * Returns the metrics as OpenMetrics 1.0 if the Accept header asks for it, otherwise in the Prometheus text format.
   */
  render(accept: string | undefined): Promise<{ readonly contentType: string; readonly body: string }>;
  /** Exports the milliseconds by which the host's clock is ahead of the clock of a store. */
  setClockAhead(store: 'mongodb' | 'redis', aheadMs: number): void;
  /** Exports whether the content of a key file is refused, by the file's name. */
  setKeyFileRefused(file: string, isRefused: boolean): void;
  /** Exports `auth_ready`; `isReady` is called at each scrape. */
  watchReadiness(isReady: () => Promise<boolean>): void;
}

/**
 * Gauges of prom-client that have the suffix of a counter. The labelled gauges, such as `nodejs_active_handles`, give
 * the same information.
 */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Creates a service's metrics. They include the process's metrics, the event loop's lag and `auth_build_info`. */
export function createMetrics({ service }: { readonly service: string }): Metrics {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(openMetricsContentType); // before the first metric, because exemplars are refused otherwise
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  new Gauge({
    name: 'auth_build_info',
    help: 'Build that is running; the value is always 1',
    labelNames: ['service', 'version', 'node'],
    registers: [registry],
  }).set({ service, version: manifest.version, node: process.version }, 1);
  const clockAhead = new Gauge({
    name: 'auth_clock_ahead_seconds',
    help: "Seconds by which the host's clock is ahead of the clock of a store, mongodb (not by the gateway) or redis",
    labelNames: ['store'],
    registers: [registry],
  });
  const keyFileRefused = new Gauge({
    name: 'auth_key_file_refused',
    help: '1 while the content of the key file is refused and the former keys stay, else 0',
    labelNames: ['file'],
    registers: [registry],
  });

  return {
    registry,
    setKeyFileRefused: (file, isRefused) => keyFileRefused.set({ file }, Number(isRefused)),
    setClockAhead: (store, aheadMs) => clockAhead.set({ store }, aheadMs / 1_000),
    async render(accept) {
      const body = await registry.metrics();
      return accept?.includes('application/openmetrics-text')
        ? { contentType: registry.contentType, body }
        : { contentType: prometheusContentType, body: toPrometheusText(body) };
    },
    watchReadiness(isReady) {
      new Gauge({
        name: 'auth_ready',
        help: '1 if /readyz answers 200, else 0',
        registers: [registry],
        async collect() {
          this.set((await isReady()) ? 1 : 0);
        },
      });
    },
  };
}

const COUNTER = /^# TYPE (\S+) counter$/gm;
const EXEMPLAR = /^([a-zA-Z_:][\w:]*(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})? \S+) # \{.*$/gm;

/**
 * Turns prom-client's OpenMetrics text into the older Prometheus text (0.0.4). In the older format, a counter's family
 * has the suffix `_total` too, and there are no exemplars and no closing `# EOF`.
 *
 * The text is converted here, because switching the registry's content type for each scrape would double the suffix
 * (`…_total_total`).
 */
function toPrometheusText(openMetrics: string): string {
  const counters = new Set(Array.from(openMetrics.matchAll(COUNTER), ([, name]) => name));
  return openMetrics
    .replace(/^# (HELP|TYPE) (\S+)/gm, (line, _kind, name: string) => (counters.has(name) ? `${line}_total` : line))
    .replace(EXEMPLAR, '$1')
    .replace(/^# EOF\n?/m, '');
}

export interface ZeroedCounterOptions<L extends string> {
  readonly registry: Metrics['registry'];
  readonly name: string;
  readonly help: string;
  /** Label → every value that the label can have. */
  readonly values: Readonly<Record<L, readonly string[]>>;
}

/**
 * Creates a counter that starts with every combination of its labels' values at zero. If a series began only with its
 * first event, `rate()`, `increase()` and alerts would miss that event.
 */
export function createZeroedCounter<L extends string>(options: ZeroedCounterOptions<L>): Counter<L> {
  const { registry, name, help, values } = options;
  const labelNames = Object.keys(values) as L[];
  const counter = new Counter<L>({ name, help, labelNames, registers: [registry] });
  for (const labels of combinations(labelNames, values)) counter.inc(labels as Record<L, string>, 0);
  return counter;
}

function combinations(
  names: readonly string[],
  values: Readonly<Record<string, readonly string[]>>,
): Record<string, string>[] {
  return names.reduce<Record<string, string>[]>(
    (all, name) => all.flatMap((labels) => (values[name] ?? []).map((value) => ({ ...labels, [name]: value }))),
    [{}],
  );
}

/** Counters of a service's MongoDB transactions. */
export function createTransactionMetrics(registry: Metrics['registry']) {
  return {
    transactions: createZeroedCounter({
      registry,
      name: 'auth_transactions_total',
      help:
        'Transactions by outcome: committed, refused (by the data, as the first try of a login on a device with a ' +
        'session), failed (by MongoDB)',
      values: { outcome: ['committed', 'refused', 'failed'] },
    }),
    transactionRetries: createZeroedCounter({
      registry,
      name: 'auth_transaction_retries_total',
      help: 'Retries of transactions, of their work or their commit',
      values: { kind: ['work', 'commit'] },
    }),
    sessionHolds: createZeroedCounter({
      registry,
      name: 'auth_session_holds_total',
      help: 'Holds that kept refreshes from an account while a change of it was tried again: taken, failed (to take or to release)',
      values: { outcome: ['taken', 'failed'] },
    }),
  };
}

/** Returns the hook that counts the holds of sessions (`auth_session_holds_total`). */
export function countHolds(holds: Pick<Counter, 'inc'>): (step: 'taken' | 'released', error?: unknown) => void {
  return (step, error) => {
    if (error !== undefined) holds.inc({ outcome: 'failed' });
    else if (step === 'taken') holds.inc({ outcome: 'taken' });
  };
}
