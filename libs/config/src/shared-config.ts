import { Type } from 'typebox';

/** MongoDB, the truth. To be spread into a service's schema. */
export const mongoConfig = {
  MONGODB_URI: Type.String({ minLength: 1, secret: true, description: 'Connection string of a MongoDB replica set' }),
  MONGODB_DATABASE: Type.String({ minLength: 1, maxLength: 63, default: 'auth', description: 'Name of the database' }),
};

/** Redis, the hints. To be spread into a service's schema. */
export const redisConfig = {
  REDIS_URL: Type.String({
    minLength: 1,
    secret: true,
    description: 'Connection URL of Redis (`redis://` or `rediss://`)',
  }),
  KEY_PREFIX: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,32}$',
    default: 'auth',
    description: 'Prefix of every key, channel and queue in Redis',
  }),
};

/** Where the service listens. To be spread into a service's schema. */
export const listenConfig = {
  BIND_ADDRESS: Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address on which every port listens' }),
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

/** Access tokens. To be spread into a service's schema. */
export const tokenConfig = {
  ACCESS_TOKEN_KEYS_FILE: Type.String({
    minLength: 1,
    description: 'Path of the JWKS with the signing keys: the first one signs, all of them verify',
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
  ACCESS_TOKEN_TTL_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 86_400,
    default: 600,
    description: 'Life of an access token in seconds',
  }),
  ACCESS_TOKEN_ALGORITHM: Type.Enum(['EdDSA', 'ES256'], {
    default: 'EdDSA',
    description: 'Signature algorithm of the access tokens',
  }),
};
