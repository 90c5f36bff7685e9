import type { AgentClient } from './agent-client.ts';
import type { Kubernetes, Pod } from './kubernetes.ts';
import type { Reporter } from './reporter.ts';

/** The images of the run, `registry/auth-account/NAME:tag`. */
export interface Images {
  readonly registry: string;
  readonly tag: string;
}

/** The cluster, clients and images that every part of the test uses. */
export interface Cluster {
  readonly kubernetes: Kubernetes;
  readonly reporter: Reporter;
  readonly images: Images;
  /** A client that the NetworkPolicies allow. */
  readonly agent: AgentClient;
}

/** Returns the URLs of the Services with their cluster IPs, so that DNS does not affect the load. */
export async function serviceAddresses({ read }: Kubernetes): Promise<{ readonly api: string; readonly push: string }> {
  const address = async (name: string) => `http://${(await read(['get', 'service', name])).spec.clusterIP}`;
  return { api: await address('auth-account-api'), push: await address('auth-account-push-gateway') };
}

export const ports = { api: 8080, apiOps: 9080, push: 8081, pushOps: 9081, workerOps: 9082, mongodb: 27017 };

/** Returns the URLs of individual pods. */
export function urlsOf(pods: readonly Pod[], port: 'api' | 'push'): string[] {
  return pods.map(({ status }) => `http://${status.podIP}:${ports[port]}`);
}
