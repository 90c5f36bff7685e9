import { isIP } from 'node:net';
import * as Type from '@auth-account/contracts/type';
import { urlProblems } from './url-check.ts';
import type { CheckProblem, VariableCheck } from './variable-schema.ts';

/**
 * Settings of MongoDB, the source of truth, to be spread into a service's schema, with the check of the library that
 * reads the address.
 */
export const mongoConfig = (checks: Readonly<Record<'address', VariableCheck>>) => ({
  MONGODB_URI: Type.String({
    minLength: 1,
    secret: true,
    check: checks.address,
    description: 'Connection string of a MongoDB replica set. Driver time-outs in it override the built-in ones',
  }),
  MONGODB_DATABASE: Type.String({ minLength: 1, maxLength: 63, default: 'auth', description: 'Name of the database' }),
});

/** Settings of Redis, to be spread into a service's schema, with the checks of the library that reads the values. */
export const redisConfig = (checks: Readonly<Record<'address' | 'file' | 'certificate' | 'key', VariableCheck>>) => ({
  REDIS_URL: Type.String({
    minLength: 1,
    secret: true,
    check: checks.address,
    description:
      'URL of Redis: `redis://[user:password@]host[:port][/db]`, `redis+sentinel://sentinel[:port],…/name[/db]` or `redis+cluster://node[:port],…`. `rediss` in place of `redis` uses TLS',
  }),
  REDIS_CA_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      check: checks.file,
      description: 'Certificate authorities to trust for Redis, PEM',
    }),
  ),
  REDIS_CERT_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      check: checks.certificate,
      description: 'Client certificate for Redis, PEM. Needs `REDIS_KEY_FILE`',
    }),
  ),
  REDIS_KEY_FILE: Type.Optional(
    Type.String({ minLength: 1, check: checks.key, description: 'Key of the client certificate, PEM' }),
  ),
  REDIS_TLS_SERVER_NAME: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Name in the certificates of Redis, if its servers are reached by another name or IP address',
    }),
  ),
  REDIS_SENTINEL_USERNAME: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'User for the sentinels. The user in `REDIS_URL` is for the servers behind them',
    }),
  ),
  REDIS_SENTINEL_PASSWORD: Type.Optional(
    Type.String({ minLength: 1, secret: true, description: 'Password for the sentinels' }),
  ),
  KEY_PREFIX: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,32}$',
    default: 'auth',
    description: 'Prefix of every key, channel and queue in Redis',
  }),
});

/** Setting for upgrades, to be spread into a service's schema. */
export const versionConfig = {
  VERSION_CHECKS: Type.Enum(['enforce', 'warn'], {
    default: 'enforce',
    description:
      'Handling of a version that must not run beside a running one or on newer data: `enforce` refuses or waits; `warn`, for emergencies, only logs it',
  }),
};

/** IP address and port that the service listens on, to be spread into a service's schema. */
const listenConfig = {
  BIND_ADDRESS: Type.Optional(
    Type.String({
      minLength: 1,
      check: emailProblems,
      description:
        'IP address that every port listens on: `::` means all of IPv4 and IPv6, `0.0.0.0` those of IPv4. Unset: `::` if the system has IPv6',
    }),
  ),
};

function emailProblems(value: unknown): CheckProblem[] {
  return isIP(bareEmail(String(value))) > 0 ? [] : [{ path: '', message: 'must be an IP address' }];
}

/** Returns an IP address without the brackets that it has in a URL. */
export function bareEmail(text: string): string {
  return text.replace(/^\[(.*)\]$/, '$1');
}

/** Setting for the server's symmetric keys, to be spread into a service's schema. */
export const serverKeysConfig = {
  SERVER_KEYS_FILE: Type.String({
    minLength: 1,
    description:
      "Path of the JWKS with the server's symmetric keys: the first one makes the HMACs of idempotency keys, rate limits and codes sent by e-mail. The api and the worker get the same",
  }),
};

/** Settings for the proxies in front of the service, to be spread into a service's schema. */
export const proxyConfig = {
  TRUST_PROXY_HOPS: Type.Integer({
    minimum: 0,
    maximum: 16,
    default: 0,
    description:
      'Exact number of proxies in front of the service: that many IP addresses of X-Forwarded-For are trusted',
  }),
};

/** Setting for pages on other origins, to be spread into a service's schema. */
export const originConfig = {
  ALLOWED_ORIGINS: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9+.-]*://[^\\s/?#@*A-Z]+$' }), {
    default: [],
    check: originProblems,
    description:
      'Origins of pages, exactly as browsers send them: `https://app.example.com`, `capacitor://localhost`. The api allows them by CORS, and the push-gateway allows streams from them only. Empty: no CORS; streams from any origin',
  }),
};

/** Reports origins of sites that no browser sends, because it writes the host in ASCII and leaves out the usual port. */
function originProblems(value: unknown): CheckProblem[] {
  const isSent = (origin: string) => !/^https?:/.test(origin) || URL.parse(origin)?.origin === origin;
  return Array.isArray(value) && !value.map(String).every(isSent)
    ? [{ path: '', message: 'must be origins as browsers send them' }]
    : [];
}

/** Settings of the service's log, to be spread into a service's schema. */
export const logConfig = {
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least severe level that is logged',
  }),
  LOG_PRETTY: Type.Boolean({
    default: false,
    description: 'Readable lines instead of JSON if stdout is a terminal',
  }),
};

/** Settings of the service's shutdown, to be spread into a service's schema. */
const shutdownConfig = {
  SHUTDOWN_DELAY_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'Seconds between turning not ready and the first shutdown step, so that load balancers notice',
  }),
};

/** Variables that every service has, because `runService` needs them. */
export const runtimeConfig = { ...listenConfig, ...logConfig, ...shutdownConfig };

const TokenSeconds = { minimum: 1, maximum: 86_400 };

/** Lifetimes of access tokens, to be spread into a service's schema. */
export const tokenLifeConfig = {
  ACCESS_TOKEN_TTL_SECONDS: Type.Integer({
    ...TokenSeconds,
    default: 600,
    description: 'Lifetime of an access token in seconds. A token with a longer lifetime is refused',
  }),
  ACCESS_TOKEN_MAX_TTL_SECONDS: Type.Optional(
    Type.Integer({
      ...TokenSeconds,
      description:
        'Longest lifetime of an access token that is accepted, if longer than `ACCESS_TOKEN_TTL_SECONDS`. ' +
        'Needed only while that setting changes (docs/operations.md)',
    }),
  ),
};

/** Setting of new keys. The services do not need it, because each key has its own algorithm. */
export const newKeyConfig = {
  ACCESS_TOKEN_ALGORITHM: Type.Enum(['ES256', 'EdDSA'], {
    default: 'ES256',
    description:
      'Algorithm of the access token keys that authctl and `npm run up` make; EdDSA is Ed25519. An existing key keeps its own algorithm',
  }),
};

/** Settings of access tokens, to be spread into a service's schema. */
export const tokenConfig = {
  ...tokenLifeConfig,
  ACCESS_TOKEN_KEYS_FILE: Type.String({
    minLength: 1,
    description:
      'Path of the JWKS for access tokens. For the api it holds private keys: the first one signs, all of them verify. ' +
      'For the push-gateway it holds the public keys that `authctl keys public` writes; a private key is refused',
  }),
  TOKEN_ISSUER: Type.String({
    pattern: '^https?://[^\\s?#@]+$',
    check: urlProblems,
    default: 'https://auth.local',
    description: 'Claim `iss` of the access tokens, and the public URL of the api: services find the keys there',
  }),
  TOKEN_AUDIENCE: Type.String({
    minLength: 1,
    default: 'food-storage',
    description: 'Claim `aud` of the access tokens',
  }),
  TOKEN_CACHE_ENTRIES: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 5_000,
    description: 'Verified access tokens to keep in memory, about 550 bytes each. 0: none',
  }),
};

/** Limits for the grace period of a deletion, in days. */
export const graceDaysLimits = { minimum: 0, maximum: 30 } as const;

/** Settings for deletions of accounts that the api or an operator orders. */
export const deletionConfig = {
  ACCOUNT_DELETION_GRACE_DAYS: Type.Integer({
    ...graceDaysLimits,
    default: 14,
    description:
      'Days between the order to delete an account and its erasure, in which it can be restored. Fewer than 3 cut short the 72 hours in which a change of the email address can be undone',
  }),
};

type TokenLife = Type.Static<Type.TObject<typeof tokenLifeConfig>>;

/**
 * Returns the longest life, in seconds, that an accepted access token can have. Revocations are remembered for the same
 * time. The signer uses `ACCESS_TOKEN_TTL_SECONDS` alone.
 */
export function maxTokenSeconds(config: TokenLife): number {
  return Math.max(config.ACCESS_TOKEN_TTL_SECONDS, config.ACCESS_TOKEN_MAX_TTL_SECONDS ?? 0);
}
