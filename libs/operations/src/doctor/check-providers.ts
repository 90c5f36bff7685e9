import { type IdentityProvider, type providerConfig, readProviders } from '@auth-account/config';
import type * as Type from '@auth-account/contracts/type';
import {
  countUsableKeys,
  createProviderClient,
  fetchProviderKeys,
  type RefusalFault,
} from '@auth-account/tokens/provider-client';
import { type Finding, failed, ok, warning } from './finding.ts';

/** Setting of the api and the worker that names identity providers. */
type ProviderSettings = Type.Static<Type.TObject<typeof providerConfig>>;

/**
 * Fetches the keys of each provider of IDENTITY_PROVIDERS, as the api does, and checks that at least one is for one of its
 * algorithms. Where codes are exchanged, it also shows the provider a code that does not exist, once for each client id:
 * a provider looks at the key and the client first.
 */
export async function checkProviders({ IDENTITY_PROVIDERS }: ProviderSettings): Promise<Finding[]> {
  const providers = [...readProviders(IDENTITY_PROVIDERS).values()];
  const findings = providers.map(async (each) => [await checkKeys(each), ...(await checkClients(each))]);
  return (await Promise.all(findings)).flat();
}

/** Advice for what a provider refuses of this service, by fault. */
export const refusalFixes: Readonly<Record<string, string>> = {
  wrong_client:
    'See private_key, key_id, team_id and client_ids of the provider in IDENTITY_PROVIDERS, and redirect_uris: docs/operations.md, "The key for Apple".',
  wrong_page:
    'See redirect_uris of the provider in IDENTITY_PROVIDERS: each must be the page to which the app is sent.',
  other_app: 'See client_ids of the provider in IDENTITY_PROVIDERS.',
};

async function checkClients({ name, clientIds, exchange }: IdentityProvider): Promise<Finding[]> {
  if (exchange === undefined) return [];
  const client = createProviderClient(exchange, { fetch, now: () => new Date() });
  return Promise.all(
    clientIds.map(async (clientId) => {
      const check = `client ${clientId} at ${name}`;
      try {
        await client.exchange('authctl-doctor', clientId);
      } catch (error) {
        const { fault, message } = error as Error & { readonly fault?: RefusalFault };
        const fix = refusalFixes[fault ?? ''];
        if (fix !== undefined) return failed(check, `${exchange.tokenUrl} refuses it: ${message}`, fix);
        if (fault === undefined) return warning(check, `${message}: not checked`, 'See whether the provider is down.');
      }
      return ok(check, `${exchange.tokenUrl} takes its key ${exchange.keyId}`);
    }),
  );
}

async function checkKeys({ name, jwksUri, algorithms }: IdentityProvider): Promise<Finding> {
  const check = `provider ${name}`;
  try {
    const { keys } = await fetchProviderKeys(jwksUri, fetch);
    const usable = await countUsableKeys(keys, algorithms);
    const detail = `${jwksUri} has ${usable} of ${keys.keys.length} keys for ${algorithms.join(', ')}`;
    if (usable > 0) return ok(check, detail);
    return failed(check, detail, 'See algorithms of the provider in IDENTITY_PROVIDERS.');
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: Partial<Record<'code' | 'message', string>> };
    const fix = 'See jwks_uri of the provider in IDENTITY_PROVIDERS, its certificate, and the NetworkPolicy.';
    return failed(check, `${jwksUri}: ${cause?.code ?? cause?.message ?? message}`, fix);
  }
}
