import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

export const chartFolder = fileURLToPath(new URL('../../../charts/auth-account/', import.meta.url));

/** A set of values that the chart must render. */
export interface ValueSet {
  readonly name: string;
  readonly file: string;
}

/** Returns the sets of values in the chart's folder `ci`. */
export function findValueSets(): ValueSet[] {
  const files = readdirSync(`${chartFolder}ci`).filter((file) => file.endsWith('-values.yaml'));
  return files.map((file) => ({ name: basename(file, '-values.yaml'), file: `${chartFolder}ci/${file}` }));
}

/** Values that the chart must refuse when they are merged over the set `minimal`. */
export interface RefusedSet {
  readonly title: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Matches the message of the refusal. */
  readonly message: RegExp;
}

/** Returns a set without the Secret at this key. */
const withoutSecret = (title: string, key: string): RefusedSet => ({
  title: `no Secret for ${title}`,
  values: { [key]: { existingSecret: '' } },
  message: new RegExp(`${key}\\.existingSecret is required: the name of a Secret`),
});

/** Returns a set with a key that the chart's schema does not have at this path. */
const withUnknown = (title: string, at: string, key: string, values: RefusedSet['values']): RefusedSet => ({
  ...{ title, values },
  message: new RegExp(`at '${at}': additional properties '${key}' not allowed`),
});

export const refusedSets: readonly RefusedSet[] = [
  withoutSecret('MongoDB', 'mongodb'),
  withoutSecret('Redis', 'redis'),
  withoutSecret('the keys', 'keys'),
  {
    title: 'no public keys for the push gateway',
    values: { keys: { public: { existingConfigMap: '' } } },
    message: /keys\.public\.existingConfigMap .* is required: .*`authctl keys public`/,
  },
  {
    title: 'the Secret with the private keys as that with the public ones',
    values: { keys: { public: { existingConfigMap: '', existingSecret: 'auth-keys' } } },
    message: /keys\.public\.existingSecret must be another Secret/,
  },
  withUnknown('a variable that nobody reads', '/config', 'TOKEN_ISUER', {
    config: { TOKEN_ISUER: 'https://x.example' },
  }),
  withUnknown("another service's variable", '/worker/config', 'HASH_QUEUE_LIMIT', {
    worker: { config: { HASH_QUEUE_LIMIT: 1 } },
  }),
  {
    title: 'a variable out of its range',
    values: { pushGateway: { config: { DRAIN_SECONDS: 60 } } },
    message: /at '\/pushGateway\/config\/DRAIN_SECONDS': maximum: got 60, want 6/,
  },
  {
    title: 'a variable of another type',
    values: { api: { config: { HASH_QUEUE_LIMIT: 'many' } } },
    message: /at '\/api\/config\/HASH_QUEUE_LIMIT': 'many' does not match pattern/,
  },
  withUnknown('a secret among the variables', '/config', 'MONGODB_URI', { config: { MONGODB_URI: 'mongodb://db' } }),
  withUnknown('a variable that services must agree on, for one of them', '/api/config', 'TOKEN_ISSUER', {
    api: { config: { TOKEN_ISSUER: 'https://auth.example.com' } },
  }),
  withUnknown('a value that does not exist', '/api', 'replcias', { api: { replcias: 3 } }),
  {
    title: 'a grace period that is too short',
    values: { pushGateway: { terminationGracePeriodSeconds: 5 } },
    message: /terminationGracePeriodSeconds of push-gateway is too small: .* need \d+ at least/,
  },
  {
    title: 'an Ingress without a host',
    values: { ingress: { enabled: true } },
    message: /ingress\.host is required/,
  },
  {
    title: 'HTTPRoutes without a Gateway',
    values: { httpRoute: { enabled: true, hostnames: ['auth.example.com'] } },
    message: /httpRoute\.parentRefs is required/,
  },
  {
    title: 'the public host for the console',
    values: {
      ingress: { enabled: true, host: 'api.example.com' },
      console: {
        enabled: true,
        existingSecret: 'auth-console',
        config: {
          CONSOLE_PUBLIC_URL: 'https://api.example.com',
          CONSOLE_ISSUER: 'https://login.example.com',
          CONSOLE_CLIENT_ID: 'auth-console',
          CONSOLE_ROLES: { viewer: ['staff'] },
        },
      },
    },
    message: /console: api\.example\.com is a host of the api or of the streams/,
  },
];
