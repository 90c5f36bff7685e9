import { type IdentityProvider, readProviders } from '@auth-account/config';
import { fetchProviderKeys } from '@auth-account/tokens/provider-client';
import type { ProviderSettings } from '../../config.ts';
import { type Finding, failed, ok } from './finding.ts';

/** Fetches the keys of each provider of IDENTITY_PROVIDERS, as the api does, and looks whether its algorithms have one. */
export function checkProviders({ IDENTITY_PROVIDERS }: ProviderSettings): Promise<Finding[]> {
  return Promise.all([...readProviders(IDENTITY_PROVIDERS).values()].map(checkProvider));
}

async function checkProvider({ name, jwksUri, algorithms }: IdentityProvider): Promise<Finding> {
  const check = `provider ${name}`;
  try {
    const { keys } = await fetchProviderKeys(jwksUri, fetch);
    const usable = keys.keys.filter((key) => algorithms.some((algorithm) => isFor(key, algorithm))).length;
    const detail = `${jwksUri} has ${usable} of ${keys.keys.length} keys for ${algorithms.join(', ')}`;
    return usable > 0
      ? ok(check, detail)
      : failed(check, detail, 'See algorithms of the provider in IDENTITY_PROVIDERS.');
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
    const mend = 'See jwks_uri of the provider in IDENTITY_PROVIDERS, its certificate, and the NetworkPolicy.';
    return failed(check, `${jwksUri}: ${cause?.code ?? message}`, mend);
  }
}

/** Key types of algorithms by their first letters (RFC 7518, RFC 8037). */
const keyTypes: Readonly<Record<string, string>> = { RS: 'RSA', PS: 'RSA', ES: 'EC', Ed: 'OKP' };

function isFor({ alg, kty }: { readonly alg?: string; readonly kty?: string }, algorithm: string): boolean {
  return alg === undefined ? kty === keyTypes[algorithm.slice(0, 2)] : alg === algorithm;
}
