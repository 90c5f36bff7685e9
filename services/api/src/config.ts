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
    description: 'Where apps reach the push gateway; stands in the answer to a login',
  }),
  REQUEST_ID_MODE: Type.Enum(['require', 'generate'], {
    default: 'require',
    description: 'What happens to a request without X-Request-ID: `require` answers 400, `generate` injects a UUIDv4',
  }),
  VALIDATE_RESPONSES: Type.Boolean({
    default: false,
    description: 'For tests: an answer that its schema does not allow becomes a 500',
  }),
  REFRESH_TOKEN_KEYS_FILE: Type.String({
    minLength: 1,
    description:
      'Path of the JWKS with the symmetric keys of the refresh tokens: the first one makes, all of them prove',
  }),
  SERVER_KEYS_FILE: Type.String({
    minLength: 1,
    description:
      'Path of the JWKS with the symmetric keys of the server: idempotency keys and rate limits are HMACs under the first one',
  }),
  REFRESH_TOKEN_IDLE_SECONDS: Type.Integer({
    minimum: 60,
    default: 30 * daySeconds,
    description: 'Life of a session since its last use, in seconds',
  }),
  REFRESH_TOKEN_ABSOLUTE_SECONDS: Type.Integer({
    minimum: 60,
    default: 180 * daySeconds,
    description: 'Life of a session in all, in seconds',
  }),
  REFRESH_RETRY_WINDOW: Type.Integer({
    minimum: 0,
    default: 30,
    description: 'Seconds within which a repeated refresh gets the same token again',
  }),
  MAX_GROUP_MEMBERS: Type.Integer({
    minimum: 1,
    default: 500,
    description: 'Members of a group at most: nobody more joins it, whatever the invite',
  }),
  PASSWORD_BLOCKLIST: Type.Enum(['none', 'common'], {
    default: 'none',
    description:
      'Passwords that nobody may choose: `common` are the 18,000 of eight characters or more that are used most, read at the start',
  }),
  PASSWORD_BLOCKLIST_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Path of a list of passwords that nobody may choose, beside those of `PASSWORD_BLOCKLIST`: UTF-8, one in each line, compared without regard to case; read at the start',
    }),
  ),
  ARGON2_MEMORY_KIB: Type.Integer({ minimum: 8, default: 19_456, description: 'Memory of one Argon2id hash in KiB' }),
  ARGON2_PASSES: Type.Integer({ minimum: 1, default: 2, description: 'Passes of Argon2id' }),
  ARGON2_LANES: Type.Integer({ minimum: 1, maximum: 255, default: 1, description: 'Lanes of Argon2id' }),
  HASH_CONCURRENCY: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'Hashes at once, as far as there is memory for them; 0: as many as the process has cores by its CPU limit',
  }),
  HASH_MEMORY_MIB: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'Memory that all hashes together may take, their threads with 24 each included, in MiB; 0: half of the memory limit of the process',
  }),
  HASH_QUEUE_LIMIT: Type.Integer({
    minimum: 0,
    default: 256,
    description: 'Hashes that may wait at most, where there is time for as many',
  }),
  HASH_QUEUE_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    default: 1_000,
    description:
      'Milliseconds within which a hash must begin after its request came, or the request is shed; no more are let in than half of it is enough for',
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
