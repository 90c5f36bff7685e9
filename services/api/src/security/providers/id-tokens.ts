import type { IdentityProvider } from '@auth-account/config';
import type { VerifyIdToken } from './provider.ts';
import type { ProviderKeysDeps } from './provider-keys.ts';
import type { VerifyDeps } from './verify-id-token.ts';

export interface IdTokenDeps extends Omit<ProviderKeysDeps, 'url'>, VerifyDeps {}

/**
 * Creates the check of a provider's tokens. The library is loaded with the first token, because it costs a process
 * memory and start-up time.
 */
export function createVerifyIdToken(provider: IdentityProvider, deps: IdTokenDeps): VerifyIdToken {
  let loaded: Promise<VerifyIdToken> | undefined;
  async function load(): Promise<VerifyIdToken> {
    const { createProviderKeys } = await import('./provider-keys.ts');
    const { createVerify } = await import('./verify-id-token.ts');
    return createVerify(provider, createProviderKeys({ ...deps, url: provider.jwksUri }), deps);
  }
  return async (token, nonce) => {
    loaded ??= load();
    return (await loaded)(token, nonce);
  };
}
