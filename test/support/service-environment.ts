import { join } from 'node:path';
import { passkeySettings } from './api/passkeys.ts';
import { providerSettings } from './api/providers.ts';
import { testEnvironment, unlimitedRequests } from './test-environment.ts';
import { internalServiceSecretsFile } from './verifier/internal-services.ts';

export type Environment = Readonly<Record<string, string>>;

/**
 * Returns the environment of a service in a test: the shared servers, and a separate database and key prefix in them.
 */
export function serviceEnvironment(name: string): Record<string, string> {
  const { mongodbUri, redisUrl, keysDir } = testEnvironment();
  return {
    MONGODB_URI: mongodbUri,
    MONGODB_DATABASE: name,
    REDIS_URL: redisUrl,
    KEY_PREFIX: name,
    VALIDATE_RESPONSES: 'true',
    BIND_ADDRESS: '127.0.0.1',
    ACCESS_TOKEN_KEYS_FILE: join(keysDir, 'access-token-keys.json'),
    REFRESH_TOKEN_KEYS_FILE: join(keysDir, 'refresh-token-keys.json'),
    SERVER_KEYS_FILE: join(keysDir, 'server-keys.json'),
    REVOCATION_FEED_SECRETS_FILE: internalServiceSecretsFile(keysDir),
    ...passkeySettings,
    ...providerSettings(),
    // No shedding under load: other tests keep the machine busy.
    HASH_QUEUE_TIMEOUT_MS: '60000',
    // All tests share one network.
    ...unlimitedRequests,
  };
}

/**
 * Returns the environment of a gateway: like the api's, but with the public halves of the run's access token keys. A
 * test's own key file stays.
 */
export function gatewayEnvironment<E extends Readonly<Record<string, string | undefined>>>(env: E): E {
  const { keysDir } = testEnvironment();
  if (env.ACCESS_TOKEN_KEYS_FILE !== join(keysDir, 'access-token-keys.json')) return env;
  return { ...env, ACCESS_TOKEN_KEYS_FILE: join(keysDir, 'access-token-public-keys.json') };
}
