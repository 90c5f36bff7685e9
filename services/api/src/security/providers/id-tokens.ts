import type { IdentityProvider } from '@auth-account/config';
import type { VerifyIdToken, VerifySecurityEventToken } from './provider.ts';
import type { ProviderKeysDeps } from './provider-keys.ts';
import type { VerifyDeps } from './verify-id-token.ts';

export interface IdTokenDeps extends Omit<ProviderKeysDeps, 'url'>, VerifyDeps {}

/** The checks of a provider's signatures. */
export interface ProviderVerifiers {
  readonly idToken: VerifyIdToken;
  readonly notice: VerifySecurityEventToken;
}

/**
 * Checks a provider's tokens, which share its keys. The library is loaded with the first token, because it costs a
 * process memory and start-up time.
 */
export function createProviderVerifiers(provider: IdentityProvider, deps: IdTokenDeps): ProviderVerifiers {
  let loaded: Promise<ProviderVerifiers> | undefined;
  async function load(): Promise<ProviderVerifiers> {
    const { createProviderKeys } = await import('./provider-keys.ts');
    const { createVerify } = await import('./verify-id-token.ts');
    const { createVerifySecurityEventToken } = await import('./verify-security-event-token.ts');
    const keys = createProviderKeys({ ...deps, url: provider.jwksUri });
    return {
      idToken: createVerify(provider, keys, deps),
      notice: createVerifySecurityEventToken(provider, keys, deps.now),
    };
  }
  const loadOnce = () => {
    loaded ??= load();
    return loaded;
  };
  return {
    idToken: async (token, nonce) => (await loadOnce()).idToken(token, nonce),
    notice: async (token) => (await loadOnce()).notice(token),
  };
}
