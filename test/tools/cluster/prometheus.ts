import { runCommand } from './run-command.ts';

/** The cluster's Prometheus, which is queried through the API server. */
export interface Prometheus {
  /** Arguments for helm with which Prometheus scrapes the release, and KEDA queries Prometheus. */
  readonly values: readonly string[];
  targets(): Promise<readonly Target[]>;
  ruleGroups(): Promise<readonly RuleGroup[]>;
  /** Returns the series of an instant query. */
  query(expression: string): Promise<readonly Series[]>;
}

export interface Target {
  readonly health: string;
  readonly lastError: string;
  readonly scrapePool: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly file: string;
  readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[];
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Returns the Prometheus that the environment names as `namespace/service:port`; undefined if it names none. */
export function findPrometheus(env = process.env): Prometheus | undefined {
  const [, namespace, service, port] = /^([^/]+)\/([^:]+):(\d+)$/.exec(env.CLUSTER_PROMETHEUS ?? '') ?? [];
  if (port === undefined) return undefined;
  async function ask<T>(path: string): Promise<T> {
    const proxy = `/api/v1/namespaces/${namespace}/services/${service}:${port}/proxy`;
    const answer = JSON.parse(await runCommand('kubectl', ['get', '--raw', `${proxy}/api/v1/${path}`]));
    if (answer.status !== 'success') throw new Error(`Prometheus: ${JSON.stringify(answer)}`);
    return answer.data as T;
  }
  const address = `keda.prometheus.serverAddress=http://${service}.${namespace}.svc:${port}`;
  return {
    values: ['-f', 'test/tools/cluster/operator-values.yaml', '--set', address],
    targets: async () => (await ask<{ activeTargets: Target[] }>('targets?state=active')).activeTargets,
    ruleGroups: async () => (await ask<{ groups: RuleGroup[] }>('rules')).groups,
    query: async (expression) =>
      (await ask<{ result: Series[] }>(`query?query=${encodeURIComponent(expression)}`)).result,
  };
}
