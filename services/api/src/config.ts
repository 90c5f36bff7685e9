import {
  deletionConfig,
  mongoConfig,
  newKeyConfig,
  originConfig,
  providerConfig,
  proxyConfig,
  redisConfig,
  runtimeConfig,
  serverKeysConfig,
  tokenConfig,
  urlProblems,
  versionConfig,
} from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { redisChecks } from '@auth-account/redis';
import { mongoChecks } from '@auth-account/stores/mongo-checks';
import { limitConfig } from './limits/limits-table.ts';
import { passkeyConfig } from './security/passkeys/passkey-config.ts';

const daySeconds = 86_400;

/** Configuration of the api: each property is an environment variable. */
export const apiConfig = Type.Object({
  ...runtimeConfig,
  ...versionConfig,
  ...mongoConfig(mongoChecks),
  ...redisConfig(redisChecks),
  ...tokenConfig,
  ...newKeyConfig,
  ...serverKeysConfig,
  ...proxyConfig,
  ...originConfig,
  ...limitConfig,
  ...passkeyConfig,
  ...providerConfig,
  API_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080, description: 'Port of the HTTP API' }),
  API_OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9080,
    description: "Port of the api's `/livez`, `/readyz`, `/metrics`",
  }),
  KEEP_ALIVE_SECONDS: Type.Integer({
    minimum: 5,
    maximum: 3_600,
    default: 95,
    description:
      'Seconds for which an idle connection is kept: longer than the proxy in front keeps it, so that none is used while the api closes it. 620 behind GCP',
  }),
  PUSH_PUBLIC_URL: Type.String({
    pattern: '^wss?://[^\\s?#@]+$',
    check: urlProblems,
    default: 'ws://127.0.0.1:8081',
    description: 'Public URL of the push-gateway. A login returns it to the app',
  }),
  REQUEST_ID_MODE: Type.Enum(['require', 'generate'], {
    default: 'require',
    description: 'Handling of a request without X-Request-ID: `require` answers 400, `generate` adds a UUIDv4',
  }),
  VALIDATE_RESPONSES: Type.Boolean({
    default: false,
    description: 'For tests: a response that breaks its schema becomes a 500',
  }),
  REFRESH_TOKEN_KEYS_FILE: Type.String({
    minLength: 1,
    description: 'Path of the JWKS with the symmetric keys for refresh tokens: the first one signs, all of them verify',
  }),
  REFRESH_TOKEN_IDLE_SECONDS: Type.Integer({
    minimum: 60,
    default: 30 * daySeconds,
    description: 'Seconds after its last refresh at which an idle session ends',
  }),
  REFRESH_TOKEN_ABSOLUTE_SECONDS: Type.Integer({
    minimum: 60,
    default: 180 * daySeconds,
    description: 'Seconds after its login at which a session ends, however active it is',
  }),
  REFRESH_RETRY_WINDOW: Type.Integer({
    minimum: 0,
    default: 30,
    description: 'Seconds within which a repeated refresh returns the same token again',
  }),
  REQUIRE_VERIFIED_EMAIL: Type.Boolean({
    default: false,
    description:
      'Only accounts with a verified email address may log in. A login to another one sends a code and answers `ERR-EMAIL-NOT-VERIFIED`',
  }),
  EMAIL_CODE_LOGIN: Type.Boolean({
    default: true,
    description: 'People can log in by a code that is sent to their email address. `false`: there are no such paths',
  }),
  TOTP_ISSUER: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[^:]+$',
      description: 'Name of the service in authenticator apps. Unset: the host of `TOKEN_ISSUER`',
    }),
  ),
  MAX_GROUP_MEMBERS: Type.Integer({
    minimum: 1,
    default: 500,
    description: 'Most members of a group. An invite cannot exceed it',
  }),
  REVOCATION_FEED_SECRETS_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Path of the JWKS with the secrets of the internal services that read revocations over HTTP (docs/verifying.md). Unset: there is no feed',
    }),
  ),
  ...deletionConfig,
  PASSWORD_BLOCKLIST: Type.Enum(['none', 'common'], {
    default: 'none',
    description:
      'Built-in list of refused passwords: `common` is the 18,000 most used ones of eight characters or more. Read at start-up',
  }),
  PASSWORD_BLOCKLIST_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Path of your own list of refused passwords, in addition to `PASSWORD_BLOCKLIST`: UTF-8, one a line, case ignored. Read at start-up',
    }),
  ),
  ARGON2_MEMORY_KIB: Type.Integer({ minimum: 8, default: 19_456, description: 'Memory of one Argon2id hash in KiB' }),
  ARGON2_PASSES: Type.Integer({ minimum: 1, default: 2, description: 'Passes of Argon2id' }),
  ARGON2_LANES: Type.Integer({ minimum: 1, maximum: 255, default: 1, description: 'Lanes of Argon2id' }),
  HASH_CONCURRENCY: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'Most hashes at once, if memory allows. 0: one for each core of the CPU limit',
  }),
  HASH_MEMORY_MIB: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'Maximum memory for all hashes together in MiB, including 24 for each thread. 0: half of the memory limit of the process',
  }),
  HASH_QUEUE_LIMIT: Type.Integer({
    minimum: 0,
    default: 256,
    description: 'Most hashes that may wait, if they can start in time',
  }),
  HASH_QUEUE_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    default: 1_000,
    description:
      'Milliseconds within which a hash must start after its request arrived; else the request gets 503. The queue is kept to what half of this time is enough for',
  }),
});
export type ApiConfig = Type.Static<typeof apiConfig>;

/** Variables of the migrations' own. They also read the variables of MongoDB, of Redis and of the log. */
export const migrateConfig = Type.Object({
  ...versionConfig,
  OUTBOX_RETENTION_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    default: 7 * daySeconds,
    description: 'Seconds for which delivered outbox rows are kept. A change takes effect with the next migration',
  }),
});

const { REDIS_URL, ...redisRest } = redisConfig(redisChecks);
/** Variables of Redis for the migrations, which run without Redis too. */
export const migrateRedisConfig = { ...redisRest, REDIS_URL: Type.Optional(REDIS_URL) };
