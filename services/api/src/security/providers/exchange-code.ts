import type { ProviderExchange } from '@auth-account/config';
import type { ProviderClient } from '@auth-account/tokens/provider-client';

/** Reasons for which a code brings no token. */
export type ExchangeFault = 'unavailable' | 'wrong_code' | 'other_person' | 'not_stored';

/** Exchanges an authorization code for a refresh token of that person. Never throws. */
export type ExchangeCode = (
  code: string,
  of: { readonly clientId: string; readonly sub: string },
) => Promise<{ readonly refreshToken: string } | { readonly fault: ExchangeFault }>;

export interface ExchangeCodeDeps {
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  /** Called for each exchange that fails. The error names neither the code nor a token. */
  readonly onError: (error: Error) => void;
}

/** Limit for the codes of a provider that are exchanged at once. */
const mostAtOnce = 32;

/**
 * Creates the exchange of a provider's codes. The client is loaded with the first code. Above {@link mostAtOnce} a code is
 * not exchanged, so that a slow provider holds neither more connections of the process nor every login.
 */
export function createExchangeCode(
  exchange: ProviderExchange,
  { fetch, now, onError }: ExchangeCodeDeps,
): ExchangeCode {
  let loaded: Promise<ProviderClient> | undefined;
  async function load(): Promise<ProviderClient> {
    const { createProviderClient } = await import('@auth-account/tokens/provider-client');
    return createProviderClient(exchange, { fetch, now });
  }
  let underWay = 0;
  return async (code, { clientId, sub }) => {
    if (underWay >= mostAtOnce) {
      onError(new Error(`${mostAtOnce} exchanges are under way`));
      return { fault: 'unavailable' };
    }
    underWay += 1;
    try {
      loaded ??= load();
      const { refreshToken, sub: person } = await (await loaded).exchange(code, clientId);
      return person === sub ? { refreshToken } : { fault: 'other_person' };
    } catch (error) {
      onError(error as Error);
      return { fault: (error as Error).name === 'ProviderRefusal' ? 'wrong_code' : 'unavailable' };
    } finally {
      underWay -= 1;
    }
  };
}
