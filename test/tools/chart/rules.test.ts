import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { allRules } from './chart-checks.ts';
import { parseManifests } from './manifest.ts';

const labels = (component: string) => ({
  'app.kubernetes.io/name': 'auth-account',
  'app.kubernetes.io/instance': 'auth-account',
  'app.kubernetes.io/component': component,
});

const objectLabels = (component: string) => ({
  ...labels(component),
  'app.kubernetes.io/version': '1.0.0',
  'app.kubernetes.io/managed-by': 'Helm',
});

/**
 * Returns a small release that follows every rule, with the push gateway and its objects, and the api with its keys.
 */
function goodRelease() {
  const podSelector = { matchLabels: labels('push-gateway') };
  const container = {
    name: 'push-gateway',
    env: [
      { name: 'REDIS_URL_FILE', value: '/etc/redis/url' },
      { name: 'ACCESS_TOKEN_KEYS_FILE', value: '/etc/keys/keys.json' },
      { name: 'OTEL_SERVICE_NAME', value: 'auth-push-gateway' },
    ] as { name: string; value?: string; valueFrom?: object }[],
    envFrom: [{ configMapRef: { name: 'gateway' } }] as object[],
    volumeMounts: [{ name: 'keys', mountPath: '/etc/keys' }],
    ports: [
      { name: 'ws', containerPort: 8081 },
      { name: 'ops', containerPort: 9081 },
    ] as { name?: string; containerPort: number }[],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } } as Record<string, object>,
    livenessProbe: {} as object | undefined,
    readinessProbe: {} as object | undefined,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] } as { drop: string[]; add?: string[] },
    },
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
  };
  const pod = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 20,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    initContainers: [] as object[],
    volumes: [{ name: 'keys', configMap: { name: 'public-keys' } }] as object[],
  };
  const metadata = (name: string) => ({ name, labels: objectLabels('push-gateway') as Record<string, string> });
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata('gateway'),
    spec: {
      replicas: 2 as number | undefined,
      selector: { ...podSelector },
      template: { metadata: { labels: labels('push-gateway') }, spec: pod },
    },
  };
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('gateway'),
    data: { LOG_LEVEL: 'info', OUTBOX_RETENTION_SECONDS: '60' } as Record<string, string>,
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata('gateway'),
    spec: { selector: labels('push-gateway'), ports: [{ port: 80, targetPort: 'ws' }] },
  };
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadata('gateway'),
    automountServiceAccountToken: false,
  };
  const closing = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata('default-deny'),
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/instance': 'auth-account' } },
      policyTypes: ['Ingress', 'Egress'],
    },
  };
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata('gateway'),
    spec: {
      podSelector: { ...podSelector },
      policyTypes: ['Ingress', 'Egress'],
      egress: [{ ports: [{ port: 6379 }] }],
    },
  };
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadata('gateway'),
    spec: { selector: { ...podSelector }, maxUnavailable: 1 } as {
      selector: object;
      maxUnavailable?: number;
      minAvailable?: string;
    },
  };
  const api = apiBeside(deployment);
  const apiPolicy = { ...policy, metadata: api.metadata, spec: { ...policy.spec, podSelector: api.spec.selector } };
  const extra: object[] = [];
  const around = { configMap, service, account, closing, policy, budget, api, apiPolicy };
  return { deployment, pod, container, ...around, extra };
}

/** Returns a Deployment of the api, derived from the gateway's. The api's keys are in the Secret `private-keys`. */
function apiBeside<T extends { spec: { template: { spec: { containers: object[] } } } }>(gateway: T) {
  const { template } = gateway.spec;
  const [container] = template.spec.containers;
  const files = ['MONGODB_URI', 'REDIS_URL', 'ACCESS_TOKEN_KEYS', 'REFRESH_TOKEN_KEYS', 'SERVER_KEYS'];
  const api = {
    ...container,
    name: 'api',
    env: files.map((name) => ({ name: `${name}_FILE`, value: `/etc/keys/private/${name}.json` })),
    ports: [{ name: 'ops', containerPort: 9080 }],
    volumeMounts: [
      { name: 'blocklist', mountPath: '/etc/keys' },
      { name: 'keys', mountPath: '/etc/keys/private' },
    ],
  };
  const volumes = [
    { name: 'blocklist', secret: { secretName: 'blocked-passwords' } },
    { name: 'keys', secret: { secretName: 'private-keys' } },
  ];
  return structuredClone({
    ...gateway,
    metadata: { name: 'api', labels: objectLabels('api') },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels('api') },
      template: { metadata: { labels: labels('api') }, spec: { ...template.spec, containers: [api], volumes } },
    },
  });
}

type Release = ReturnType<typeof goodRelease>;

function broken(change: (release: Release) => void): string[] {
  const release = goodRelease();
  change(release);
  const { pod: _pod, container: _container, extra, ...objects } = release;
  const text = [...Object.values(objects), ...extra].map((object) => stringify(object)).join('---\n');
  const manifests = parseManifests(text);
  return allRules.filter(({ find }) => find(manifests).length > 0).map(({ title }) => title);
}

const set = <T extends object>(of: T, change: Partial<T>) => Object.assign(of, change);

/** The rules, each with changes that break it. */
const breaches: Readonly<Record<string, readonly ((release: Release) => void)[]>> = {
  'every container has a limit of memory, and requests of CPU and memory': [
    ({ container }) => set(container.resources, { limits: {} }),
    ({ container }) => set(container.resources, { requests: { cpu: '1' } }),
    ({ pod, container: { resources: _, ...container } }) => pod.initContainers.push({ ...container, name: 'wait' }),
  ],
  'every container is restricted and writes nothing to its root': [
    ({ pod }) => set(pod.securityContext, { runAsNonRoot: false }),
    ({ pod }) => set(pod.securityContext.seccompProfile, { type: 'Unconfined' }),
    ({ container }) => set(container.securityContext, { readOnlyRootFilesystem: false }),
    ({ container }) => set(container.securityContext, { allowPrivilegeEscalation: true }),
    ({ container }) => set(container.securityContext, { capabilities: { drop: [] } }),
    ({ container }) => set(container.securityContext.capabilities, { add: ['NET_ADMIN'] }),
  ],
  'no pod and no ServiceAccount has a token': [
    ({ pod }) => set(pod, { automountServiceAccountToken: true }),
    ({ account }) => set(account, { automountServiceAccountToken: true }),
  ],
  'every Deployment that serves has both probes': [
    ({ container }) => set(container, { livenessProbe: undefined }),
    ({ container }) => set(container, { readinessProbe: undefined }),
  ],
  'the release makes no Secret': [
    ({ extra }) =>
      extra.push({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', labels: objectLabels('api') } }),
  ],
  'every variable is known to the configuration schemas': [
    ({ configMap }) => set(configMap.data, { LOG_LEVLE: 'info' }),
    ({ container }) => container.env.push({ name: 'OTHER', value: '1' }),
    // The api reads this file, but the push gateway does not.
    ({ container }) => container.env.push({ name: 'SERVER_KEYS_FILE', value: '/etc/keys/server-keys.json' }),
  ],
  'every required variable is set, or its file': [({ container }) => container.env.shift()],
  'no variable holds a secret': [
    ({ container }) => container.env.push({ name: 'REDIS_URL', value: 'redis://cache' }),
    ({ configMap }) => set(configMap.data, { TOKEN_ISSUER: 'https://user:word@auth.example.com' }),
  ],
  'nobody but api and authctl gets anything of a Secret with private keys, worker and console the server’s keys alone':
    [
      ({ pod }) =>
        set(pod, {
          volumes: [{ name: 'keys', secret: { secretName: 'private-keys', items: [{ key: 'a', path: 'a' }] } }],
        }),
      ({ pod }) => pod.volumes.push({ name: 'more', projected: { sources: [{ secret: { name: 'private-keys' } }] } }),
      ({ container }) => container.envFrom.push({ secretRef: { name: 'private-keys' } }),
      ({ container }) =>
        container.env.push({
          name: 'OTEL_EXPORTER_OTLP_HEADERS',
          valueFrom: { secretKeyRef: { name: 'private-keys', key: 'a' } },
        }),
      ({ pod, container }) =>
        pod.initContainers.push({ ...container, name: 'wait', envFrom: [{ secretRef: { name: 'private-keys' } }] }),
    ],
  'every selector finds pods': [
    ({ extra, budget }) => extra.push({ ...budget, spec: { selector: { matchLabels: labels('probe') } } }),
    ({ extra, policy }) => extra.push({ ...policy, spec: { podSelector: { matchLabels: labels('probe') } } }),
    ({ extra, service }) =>
      extra.push({ ...service, kind: 'ServiceMonitor', spec: { selector: { matchLabels: labels('monitoring') } } }),
  ],
  'every Deployment selects its own pods and no others': [
    ({ extra, deployment }) => extra.push({ ...deployment, metadata: { ...deployment.metadata, name: 'other' } }),
    ({ deployment }) => set(deployment.spec.selector, { matchLabels: labels('api') }),
  ],
  'every Service leads to a port that its pods have': [
    ({ extra, service }) =>
      extra.push({ ...service, spec: { ...service.spec, ports: [{ port: 81, targetPort: 'http' }] } }),
  ],
  'with NetworkPolicies every pod has one of its own': [
    ({ policy }) => set(policy.spec, { egress: undefined as never }),
    ({ closing, policy }) => {
      closing.spec.policyTypes = ['Ingress'];
      policy.spec.policyTypes = ['Ingress'];
    },
  ],
  'every PodDisruptionBudget lets a pod go': [
    ({ budget }) => set(budget.spec, { maxUnavailable: 0 }),
    ({ budget: { spec } }) => {
      spec.maxUnavailable = undefined as never;
      spec.minAvailable = '51%';
    },
  ],
  'the grace period is as long as a stop takes, with a reserve': [
    ({ pod }) => set(pod, { terminationGracePeriodSeconds: 16 }),
    ({ configMap }) => set(configMap.data, { SHUTDOWN_DELAY_SECONDS: '4' }),
  ],
  'every object bears the recommended labels': [
    ({ service }) => set(service.metadata, { labels: labels('push-gateway') }),
  ],
};

describe('the rules for the chart', () => {
  test('the rules find nothing in a release that keeps them all', () => {
    expect(broken(() => undefined)).toEqual([]);
  });

  const cases = Object.entries(breaches).flatMap(([title, changes]) =>
    changes.map((change, index) => ({ title, number: index + 1, change })),
  );
  test.each(cases)('$title: breach $number is found, and no other rule is broken', ({ title, change }) => {
    expect(broken(change)).toEqual([title]);
  });

  test('the rules can each be broken', () => {
    expect(Object.keys(breaches).toSorted()).toEqual(allRules.map(({ title }) => title).toSorted());
  });

  test('the rules let the worker have the keys of the server, and only those', () => {
    const [title] = Object.keys(breaches).filter((each) => each.includes('private keys'));
    const withKeys = (...paths: string[]) =>
      broken(({ pod, container }) => {
        container.name = 'worker';
        container.env.push({ name: 'SERVER_KEYS_FILE', value: '/etc/server/server-keys.json' });
        container.volumeMounts.push({ name: 'server', mountPath: '/etc/server' });
        const items = paths.map((path) => ({ key: path, path }));
        pod.volumes.push({ name: 'server', secret: { secretName: 'private-keys', items } });
      });
    expect(withKeys('server-keys.json')).not.toContain(title);
    for (const paths of [['server-keys.json', 'access-token-keys.json'], ['access-token-keys.json'], []]) {
      expect(withKeys(...paths)).toContain(title);
    }
  });

  test('the rules leave the user’s own objects alone', () => {
    const text =
      '---\n# Source: auth-account/templates/extra-objects.yaml\napiVersion: v1\nkind: Secret\nmetadata: {name: own}\n';
    expect(parseManifests(text)).toEqual([]);
  });
});
