import { lookup } from 'node:dns/promises';
import { fetchDocument } from '@auth-account/verifier/fetch-document';

/** The places from which the metrics of the processes come. */
export interface MetricsSources {
  /** Base URL of a Prometheus. */
  readonly prometheusUrl: string | undefined;
  /** URLs of processes' metrics. Each address of a host name is a process of its own. They count only without a Prometheus. */
  readonly metricsUrls: readonly string[];
}

export interface ReadMetrics {
  readonly streams: readonly { readonly process: string; readonly open: number }[];
  readonly limits: {
    readonly span: 'hour' | 'since_start';
    readonly rules: readonly { readonly rule: string; readonly refused: number }[];
  };
  /** Sources that did not answer, with the reason. */
  readonly gaps: readonly string[];
}

/** A value of a metric at one process. */
interface Sample {
  readonly process: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const [openStreams, refusals] = ['push_streams_open', 'auth_rate_limited_total'];
/** Limits for one answer, for all addresses of a host name, and for all that is read at once. */
const [timeoutMs, maxBytes, maxAddresses] = [3_000, 4_000_000, 100];

/** Reads the open streams and what limits have refused. Never rejects: what did not answer is in `gaps`. */
export async function readMetrics({ prometheusUrl, metricsUrls }: MetricsSources): Promise<ReadMetrics> {
  const gaps: string[] = [];
  const attempt = <T>(source: string, read: Promise<T[]>): Promise<T[]> =>
    read.catch((error: unknown) => {
      gaps.push(`${source}: ${reasonOf(error)}`);
      return [];
    });
  const { streams, limits } = await (prometheusUrl === undefined
    ? scrape(metricsUrls, attempt)
    : attempt('Prometheus', askPrometheus(prometheusUrl)).then(([answer]) => answer ?? { streams: [], limits: [] }));
  const sums = Map.groupBy(limits, ({ labels }) => labels.rule ?? '');
  const rules = [...sums].map(([rule, samples]) => {
    return { rule, refused: Math.round(samples.reduce((sum, { value }) => sum + value, 0)) };
  });
  return {
    streams: streams.map(({ process, value }) => ({ process, open: value })).sort(byName(({ process }) => process)),
    limits: {
      span: prometheusUrl === undefined ? 'since_start' : 'hour',
      rules: rules.filter(({ refused }) => refused > 0).sort((a, b) => b.refused - a.refused),
    },
    gaps: gaps.sort(),
  };
}

const byName =
  <T>(nameOf: (item: T) => string) =>
  (a: T, b: T) =>
    nameOf(a).localeCompare(nameOf(b));

/** Returns why a source did not answer: the innermost cause, because the others name the URL. */
function reasonOf(error: unknown): string {
  const { name, message, code, cause } = error as Error & { readonly code?: string };
  if (cause instanceof Error) return reasonOf(cause);
  return name === 'TimeoutError' ? `no answer within ${timeoutMs / 1_000} s` : (code ?? message);
}

interface Read {
  readonly streams: readonly Sample[];
  readonly limits: readonly Sample[];
}

/** Answer of Prometheus's `/api/v1/query` with a vector. */
interface VectorAnswer {
  readonly data?: {
    readonly result?: readonly { readonly metric: Sample['labels']; readonly value: readonly [number, string] }[];
  };
}

async function askPrometheus(url: string): Promise<Read[]> {
  const ask = async (query: string): Promise<Sample[]> => {
    const asked = `${url.replace(/\/$/, '')}/api/v1/query?query=${encodeURIComponent(query)}`;
    const { data } = JSON.parse(await fetchText(asked)) as VectorAnswer;
    return (data?.result ?? []).flatMap(({ metric, value }) => {
      const { pod, instance = '', rule = '' } = metric;
      const number = Number(value[1]);
      return Number.isFinite(number)
        ? [{ process: String(pod ?? instance), labels: { rule: String(rule) }, value: number }]
        : [];
    });
  };
  const [streams, limits] = await Promise.all([ask(openStreams), ask(`sum by (rule) (increase(${refusals}[1h]))`)]);
  return [{ streams, limits }];
}

type Attempt = <T>(source: string, read: Promise<T[]>) => Promise<T[]>;

async function scrape(urls: readonly string[], attempt: Attempt): Promise<Read> {
  const found = await Promise.all(urls.map((url) => attempt(new URL(url).host, addressesOf(url))));
  const addresses = found.flat().slice(0, maxAddresses);
  const samples = await Promise.all(
    addresses.map(({ process, url }) =>
      attempt(
        process,
        fetchText(url).then((text) => parseMetrics(text, process)),
      ),
    ),
  );
  const of = (name: string) => samples.flat().filter((sample) => sample.name === name);
  return { streams: of(openStreams), limits: of(refusals) };
}

/** Returns the URL for each address of the host name. With TLS the name stays, because the certificate has it. */
async function addressesOf(url: string): Promise<{ readonly process: string; readonly url: string }[]> {
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:') return [{ process: parsed.host, url }];
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const found = await Promise.race([lookup(host, { all: true }), tooLate()]);
  return found.map(({ address, family }) => {
    const each = new URL(url);
    each.hostname = family === 6 ? `[${address}]` : address;
    return { process: each.host, url: each.href };
  });
}

function tooLate(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  setTimeout(() => reject(new DOMException('late', 'TimeoutError')), timeoutMs).unref();
  return promise;
}

/** Returns the text of an answer. Rejects if it is not 200, too large, or does not come in time. */
function fetchText(url: string): Promise<string> {
  const bare = new URL(url);
  const { username, password } = bare;
  // `fetch` refuses a URL with credentials, by an error that repeats them.
  [bare.username, bare.password] = ['', ''];
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = { Accept: '*/*', ...(username !== '' && { authorization: `Basic ${basic}` }) };
  return fetchDocument(bare.href, { fetch, timeoutMs, maximumBytes: maxBytes, headers });
}

/** Reads those lines of Prometheus's text format (also of OpenMetrics) that have one of the two metrics. */
function parseMetrics(text: string, process: string): (Sample & { readonly name: string })[] {
  return text.split('\n').flatMap((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name !== openStreams && name !== refusals) return [];
    const pairs = [...labels.matchAll(/\b(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, key = '', text = '']) => [key, text] as const,
    );
    const number = Number(value);
    return Number.isFinite(number) ? [{ name, process, labels: Object.fromEntries(pairs), value: number }] : [];
  });
}
