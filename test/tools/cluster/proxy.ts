import { readFileSync } from 'node:fs';
import { type AgentClient, openAgentHere } from './agent-client.ts';
import type { Cluster } from './cluster.ts';
import { settings } from './kubernetes.ts';

/** An entrance by which apps reach the release through the proxy. */
export interface Entrance {
  readonly name: string;
  readonly url: string;
}

/** The cluster's ingress controller and gateway. */
export type ReverseProxy = NonNullable<ReturnType<typeof findProxy>>;

/** Returns the proxy that the environment names; undefined if it names none. */
export function findProxy(env = process.env) {
  const { CLUSTER_INGRESS_DOMAIN: domain, CLUSTER_INGRESS_ADDRESS: address, CLUSTER_INGRESS_CA: caFile } = env;
  if (!domain || !address || !caFile) return;
  const hosts = { ingress: `auth-ingress.${domain}`, route: `auth-route.${domain}` };
  const own = settings(
    `ingress.host=${hosts.ingress}`,
    `httpRoute.hostnames[0]=${hosts.route}`,
    `tests.apiUrl=https://${hosts.ingress}`,
  );
  return {
    address,
    /** The ending of the names that resolve to the proxy. */
    domain,
    /** The PEM file of the authority of its certificate. */
    caFile,
    entrances: [
      { name: 'the Ingress', url: `https://${hosts.ingress}` },
      { name: 'the HTTPRoute', url: `https://${hosts.route}` },
    ],
    /** Arguments for helm that open both entrances. */
    values: ['-f', 'test/tools/cluster/proxy-values.yaml', ...own],
  };
}

/** The ConfigMap's name, as in proxy-values.yaml. */
export const authorityName = 'cluster-test-ingress-ca';

/** Returns the ConfigMap with the authority, for `helm test`. */
export function authorityObject({ caFile }: ReverseProxy): object {
  const data = { 'ca.crt': readFileSync(caFile, 'utf8') };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: authorityName }, data };
}

/** Runs the work with an agent on this machine, which is a client outside the cluster and knows only the names. */
export async function withAgentOutside<T>(proxy: ReverseProxy, work: (agent: AgentClient) => Promise<T>): Promise<T> {
  const env = { AGENT_HOSTS: `.${proxy.domain}=${proxy.address}`, NODE_EXTRA_CA_CERTS: proxy.caFile };
  const agent = await openAgentHere(env);
  try {
    return await work(agent);
  } finally {
    await agent.close();
  }
}

/** Returns the cluster with this agent in place of its own. The names of its checks mention the entrance. */
export function through(cluster: Cluster, agent: AgentClient, { name }: Entrance): Cluster {
  const { reporter } = cluster;
  const named: Cluster['reporter'] = { ...reporter, check: (what, run) => reporter.check(`by ${name}: ${what}`, run) };
  return { ...cluster, agent, reporter: named };
}
