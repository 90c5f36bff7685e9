import { mongoConfig, proxyConfig, redisConfig, runtimeConfig, tokenConfig } from '@auth-account/config';
import { redisChecks } from '@auth-account/redis';
import { type Static, Type } from 'typebox';
import { limitConfig } from './limits/limit-config.ts';

const daySeconds = 86_400;

/** Configuration of the api: each property is an environment variable. */
export const apiConfig = Type.Object({
  ...runtimeConfig,
  ...mongoConfig,
  ...redisConfig(redisChecks),
  ...tokenConfig,
  ...proxyConfig,
  ...limitConfig,
  API_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080, description: 'Port of the HTTP API' }),
  API_OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9080,
    description: "Port of the api's `/livez`, `/readyz`, `/metrics`",
  }),
  PUSH_PUBLIC_URL: Type.String({
    pattern: '^wss?://',
    default: 'ws://127.0.0.1:8081',
    description: 'Address at which apps reach the push gateway; part of the answer to a login',
  }),
  REQUEST_ID_MODE: Type.Enum(['require', 'generate'], {
    default: 'require',
    description: 'Treatment of requests without X-Request-ID: `require` answers 400, `generate` adds a UUIDv4',
  }),
  VALIDATE_RESPONSES: Type.Boolean({
    default: false,
    description: 'For tests: an answer that its schema does not allow becomes a 500',
  }),
  REFRESH_TOKEN_KEYS_FILE: Type.String({
    minLength: 1,
    description:
      'Path of the JWKS with the symmetric keys of the refresh tokens: the first one issues, all of them verify',
  }),
  SERVER_KEYS_FILE: Type.String({
    minLength: 1,
    description:
      'Path of the JWKS with the symmetric keys of the server; the first one makes the HMACs of idempotency keys and rate limits',
  }),
  REFRESH_TOKEN_IDLE_SECONDS: Type.Integer({
    minimum: 60,
    default: 30 * daySeconds,
    description: 'Lifetime of a session since its last use, in seconds',
  }),
  REFRESH_TOKEN_ABSOLUTE_SECONDS: Type.Integer({
    minimum: 60,
    default: 180 * daySeconds,
    description: 'Lifetime of a session in total, in seconds',
  }),
  REFRESH_RETRY_WINDOW: Type.Integer({
    minimum: 0,
    default: 30,
    description: 'Seconds within which a repeated refresh gets the same token again',
  }),
  MAX_GROUP_MEMBERS: Type.Integer({
    minimum: 1,
    default: 500,
    description: 'Largest number of members in a group; a full group takes no more, even by a valid invite',
  }),
  PASSWORD_BLOCKLIST: Type.Enum(['none', 'common'], {
    default: 'none',
    description:
      'Passwords that are refused: `common` has the 18,000 most used ones of eight characters or more; read at start-up',
  }),
  PASSWORD_BLOCKLIST_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Path of a list of refused passwords, in addition to `PASSWORD_BLOCKLIST`: UTF-8, one per line, compared without regard to case; read at start-up',
    }),
  ),
  ARGON2_MEMORY_KIB: Type.Integer({ minimum: 8, default: 19_456, description: 'Memory of one Argon2id hash in KiB' }),
  ARGON2_PASSES: Type.Integer({ minimum: 1, default: 2, description: 'Passes of Argon2id' }),
  ARGON2_LANES: Type.Integer({ minimum: 1, maximum: 255, default: 1, description: 'Lanes of Argon2id' }),
  HASH_CONCURRENCY: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'Concurrent hashes, if there is memory for them; 0: the number of cores in the CPU limit of the process',
  }),
  HASH_MEMORY_MIB: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'Memory for all hashes together, in MiB, including 24 for each of their threads; 0: half of the memory limit of the process',
  }),
  HASH_QUEUE_LIMIT: Type.Integer({
    minimum: 0,
    default: 256,
    description: 'Largest number of hashes that wait, if there is time for as many',
  }),
  HASH_QUEUE_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    default: 1_000,
    description:
      'Milliseconds within which a hash must begin after its request came; later ones are shed. No more are admitted than can begin within half of it',
  }),
});
export type ApiConfig = Static<typeof apiConfig>;

/** Variables that only the migrations read, beside MongoDB's and the log's. */
export const migrateConfig = Type.Object({
  OUTBOX_RETENTION_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    default: 7 * daySeconds,
    description: 'Seconds for which delivered outbox rows stay; a change takes effect with the next migration',
  }),
});
