/** Grafana's names of units. */
export type Unit = 's' | 'reqps' | 'ops' | 'percentunit' | 'short' | 'bytes' | 'none';

/** A query, as PromQL and the name of its series. */
export type Query = readonly [expression: string, legend: string];

/** The lower bound and the color of each range of values. The bound is undefined for the lowest range. */
export type Steps = readonly (readonly [from: number | undefined, color: 'green' | 'yellow' | 'red'])[];

/** A panel without its position. */
export interface Panel {
  readonly kind: 'stat' | 'timeseries';
  readonly title: string;
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  readonly steps?: Steps;
  /** The width in columns, of 24. */
  readonly width: number;
  /** The number of decimals, if Grafana's choice hides relevant digits. */
  readonly decimals?: number;
}

type StatText = Pick<Panel, 'title' | 'description' | 'unit' | 'steps' | 'decimals'>;

/** Creates a panel with one number, in the color of its range. */
export function stat(expression: string, text: StatText): Panel {
  return { kind: 'stat', queries: [[expression, '']], width: 4, ...text };
}

/** Creates a panel with lines over time. */
export function lines(unit: Unit, title: string, description: string, queries: readonly Query[]): Panel {
  return { kind: 'timeseries', unit, title, description, queries, width: 8 };
}

/** Returns the selector of the dashboard's variables, and of additional labels. */
export function of(more = ''): string {
  return `{namespace=~"$namespace",job=~"$job"${more && `,${more}`}}`;
}

/** Returns the sum of a counter's rate, by labels if some are named. */
export function rate(counter: string, by = '', more = ''): string {
  return `sum${by && ` by (${by})`} (rate(${counter}${of(more)}[$__rate_interval]))`;
}

/** Returns the query for a counter's rate by labels, whose values name the series. */
export function rates(counter: string, by: string, more = ''): Query {
  return [rate(counter, by, more), by.replaceAll(/(\w+),?/g, '{{$1}}')];
}

/** Returns the sum of a counter's increase in the displayed time. */
export function gained(counter: string, more = ''): string {
  return `sum(increase(${counter}${of(more)}[$__range]))`;
}

/** Returns a quantile of a histogram, by labels if some are named. */
export function quantile(share: number, histogram: string, by = '', more = ''): string {
  const labels = ['le', by].filter(Boolean).join(', ');
  return `histogram_quantile(${share}, sum by (${labels}) (rate(${histogram}_bucket${of(more)}[$__rate_interval])))`;
}

/** Returns the median and 99th percentile of a histogram. */
export function spread(histogram: string, more = ''): Query[] {
  return [
    [quantile(0.5, histogram, '', more), 'p50'],
    [quantile(0.99, histogram, '', more), 'p99'],
  ];
}
