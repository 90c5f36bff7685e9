import { type IdentityProvider, readProviders } from '@auth-account/config';
import { countUsableKeys, fetchProviderKeys } from '@auth-account/tokens/provider-client';
import type { ProviderSettings } from '../../config.ts';
import { type Finding, failed, ok } from './finding.ts';

/**
 * Fetches the keys of each provider of IDENTITY_PROVIDERS, as the api does, and checks that at least one is for one of its
 * algorithms.
 */
export function checkProviders({ IDENTITY_PROVIDERS }: ProviderSettings): Promise<Finding[]> {
  return Promise.all([...readProviders(IDENTITY_PROVIDERS).values()].map(checkProvider));
}

async function checkProvider({ name, jwksUri, algorithms }: IdentityProvider): Promise<Finding> {
  const check = `provider ${name}`;
  try {
    const { keys } = await fetchProviderKeys(jwksUri, fetch);
    const usable = await countUsableKeys(keys, algorithms);
    const detail = `${jwksUri} has ${usable} of ${keys.keys.length} keys for ${algorithms.join(', ')}`;
    if (usable > 0) return ok(check, detail);
    return failed(check, detail, 'See algorithms of the provider in IDENTITY_PROVIDERS.');
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: Partial<Record<'code' | 'message', string>> };
    const mend = 'See jwks_uri of the provider in IDENTITY_PROVIDERS, its certificate, and the NetworkPolicy.';
    return failed(check, `${jwksUri}: ${cause?.code ?? cause?.message ?? message}`, mend);
  }
}
