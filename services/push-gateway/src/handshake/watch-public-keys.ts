import { ConfigError } from '@auth-account/config';
import { assertAccessTokenKeys, type KeyFileWatch, watchKeys } from '@auth-account/tokens';
import type { PushGatewayConfig } from '../config.ts';

/**
 * Watches the file with the public keys that verify access tokens, and reads it again when it changes. A file with a
 * private key is refused, because every app reaches the gateway, and an intruder there must not find a key that signs
 * tokens.
 *
 * @throws ConfigError if the file is refused or unreadable at the start
 */
export async function watchPublicKeys(
  { ACCESS_TOKEN_KEYS_FILE: file }: PushGatewayConfig,
  watched: Omit<Parameters<typeof watchKeys>[1], 'check'>,
): Promise<KeyFileWatch> {
  try {
    return await watchKeys(file, { check: (set) => assertAccessTokenKeys(set, 'verify'), ...watched });
  } catch (error) {
    const problem = {
      name: 'ACCESS_TOKEN_KEYS_FILE',
      expected: 'a JWK set of public keys',
      came: (error as Error).message,
      where: 'environment ACCESS_TOKEN_KEYS_FILE',
    };
    throw Object.assign(new ConfigError([problem]), { cause: error });
  }
}
