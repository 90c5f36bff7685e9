/** Grafana's names of units. */
export type Unit = 's' | 'reqps' | 'ops' | 'percentunit' | 'short' | 'bytes' | 'none';

/** One query: PromQL, and what its series are called. */
export type Query = readonly [expression: string, legend: string];

/** Lower bound (undefined: from the beginning) and color of each range of values. */
export type Steps = readonly (readonly [from: number | undefined, color: 'green' | 'yellow' | 'red'])[];

/** A panel without its place. */
export interface Panel {
  readonly kind: 'stat' | 'timeseries';
  readonly title: string;
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  readonly steps?: Steps;
  /** Columns out of 24. */
  readonly width: number;
  /** Decimals, where Grafana's choice hides what matters. */
  readonly decimals?: number;
}

type PanelText = Pick<Panel, 'title' | 'description' | 'unit'> & Partial<Pick<Panel, 'steps' | 'decimals' | 'width'>>;

/** One number, with the color of its range. */
export function stat(expression: string, text: PanelText): Panel {
  return { kind: 'stat', queries: [[expression, '']], width: 4, ...text };
}

/** Lines over time. */
export function lines(queries: readonly Query[], text: PanelText): Panel {
  return { kind: 'timeseries', queries, width: 8, ...text };
}

/** Selector of the dashboard's variables, and of more labels. */
export function of(more = ''): string {
  return `{namespace=~"$namespace",job=~"$job"${more && `,${more}`}}`;
}

/** Sum of a counter's rate, by labels where some are named. */
export function rate(counter: string, by = '', more = ''): string {
  return `sum${by && ` by (${by})`} (rate(${counter}${of(more)}[$__rate_interval]))`;
}

/** Sum of what a counter gained in the time that is shown. */
export function gained(counter: string, more = ''): string {
  return `sum(increase(${counter}${of(more)}[$__range]))`;
}

/** Quantile of a histogram, by labels where some are named. */
export function quantile(share: number, histogram: string, by = '', more = ''): string {
  const labels = ['le', by].filter(Boolean).join(', ');
  return `histogram_quantile(${share}, sum by (${labels}) (rate(${histogram}_bucket${of(more)}[$__rate_interval])))`;
}

/** Median and 99th percentile of a histogram. */
export function spread(histogram: string, more = ''): Query[] {
  return [
    [quantile(0.5, histogram, '', more), 'p50'],
    [quantile(0.99, histogram, '', more), 'p99'],
  ];
}
