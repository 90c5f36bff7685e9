import { Type } from 'typebox';
import type { VariableCheck } from './variable-schema.ts';

/** MongoDB, the truth. To be spread into a service's schema. */
export const mongoConfig = {
  MONGODB_URI: Type.String({
    minLength: 1,
    secret: true,
    description: 'Connection string of a MongoDB replica set. Time-outs of the driver that it names replace our own',
  }),
  MONGODB_DATABASE: Type.String({ minLength: 1, maxLength: 63, default: 'auth', description: 'Name of the database' }),
};

/** Redis, the hints. To be spread into a service's schema, with the checks of the library that reads the values. */
export const redisConfig = (checks: { readonly address: VariableCheck; readonly file: VariableCheck }) => ({
  REDIS_URL: Type.String({
    minLength: 1,
    secret: true,
    check: checks.address,
    description:
      'Where Redis is: `redis://[user:password@]host[:port][/db]`, `redis+sentinel://sentinel[:port],…/name[/db]` or `redis+cluster://node[:port],…`; with `rediss` over TLS',
  }),
  REDIS_CA_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      check: checks.file,
      description: 'Authorities that vouch for the certificates of Redis, PEM',
    }),
  ),
  REDIS_CERT_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      check: checks.file,
      description: 'Client certificate for Redis, PEM; `REDIS_KEY_FILE` goes with it',
    }),
  ),
  REDIS_KEY_FILE: Type.Optional(
    Type.String({ minLength: 1, check: checks.file, description: "The client certificate's key, PEM" }),
  ),
  REDIS_TLS_SERVER_NAME: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Name in the certificates of Redis, where its servers are reached by other names or addresses',
    }),
  ),
  REDIS_SENTINEL_USERNAME: Type.Optional(
    Type.String({ minLength: 1, description: "User of the sentinels; the URL's is of the servers behind them" }),
  ),
  REDIS_SENTINEL_PASSWORD: Type.Optional(
    Type.String({ minLength: 1, secret: true, description: 'Password of the sentinels' }),
  ),
  KEY_PREFIX: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,32}$',
    default: 'auth',
    description: 'Prefix of every key, channel and queue in Redis',
  }),
});

/** Where the service listens. To be spread into a service's schema. */
export const listenConfig = {
  BIND_ADDRESS: Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address on which every port listens' }),
};

/** The proxies before the service. To be spread into a service's schema. */
export const proxyConfig = {
  TRUST_PROXY_HOPS: Type.Integer({
    minimum: 0,
    maximum: 16,
    default: 0,
    description: 'Proxies in front of the service, exactly: as many addresses of X-Forwarded-For are believed',
  }),
};

/** What the service logs. To be spread into a service's schema. */
export const logConfig = {
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'The least severe level that is logged',
  }),
  LOG_PRETTY: Type.Boolean({
    default: false,
    description: 'Readable lines instead of JSON where stdout is a terminal',
  }),
};

/** How the service ends. To be spread into a service's schema. */
export const shutdownConfig = {
  SHUTDOWN_DELAY_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 60,
    default: 0,
    description:
      'Seconds between the fall of readiness and the first step of a shutdown, for load balancers to take note',
  }),
};

/** What every service has: `runService` asks for these. */
export const runtimeConfig = { ...listenConfig, ...logConfig, ...shutdownConfig };

const TokenSeconds = { minimum: 1, maximum: 86_400 };

/** The lives of access tokens. To be spread into a service's schema. */
export const tokenLifeConfig = {
  ACCESS_TOKEN_TTL_SECONDS: Type.Integer({
    ...TokenSeconds,
    default: 600,
    description: 'Life of an access token in seconds; one of a longer life is refused',
  }),
  ACCESS_TOKEN_MAX_TTL_SECONDS: Type.Optional(
    Type.Integer({
      ...TokenSeconds,
      description:
        'Longest life of an access token that is accepted, where that is more: for the time in which ' +
        '`ACCESS_TOKEN_TTL_SECONDS` changes (docs/operations.md)',
    }),
  ),
};

/** Access tokens. To be spread into a service's schema. */
export const tokenConfig = {
  ...tokenLifeConfig,
  ACCESS_TOKEN_KEYS_FILE: Type.String({
    minLength: 1,
    description:
      'Path of the JWKS for access tokens. The api has the private keys: the first one signs, all of them verify. ' +
      'The push-gateway has their public halves, as `authctl keys public` writes them, and refuses a private one',
  }),
  TOKEN_ISSUER: Type.String({
    minLength: 1,
    default: 'https://auth.local',
    description: 'Claim `iss` of the access tokens',
  }),
  TOKEN_AUDIENCE: Type.String({
    minLength: 1,
    default: 'food-storage',
    description: 'Claim `aud` of the access tokens',
  }),
  ACCESS_TOKEN_ALGORITHM: Type.Enum(['EdDSA', 'ES256'], {
    default: 'EdDSA',
    description: 'Signature algorithm of the access tokens',
  }),
  TOKEN_CACHE_ENTRIES: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 5_000,
    description: 'Verified access tokens that are remembered, some 500 bytes each; 0: none',
  }),
};
