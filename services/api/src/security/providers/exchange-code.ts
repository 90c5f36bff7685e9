import type { ProviderExchange } from '@auth-account/config';
import type { ProviderClient, RefusalFault } from '@auth-account/tokens/provider-client';

/** Reasons for which a code brings no token. */
export type ExchangeFault = 'unavailable' | RefusalFault | 'other_person';

/** Exchanges an authorization code for a refresh token of that person. Never throws. */
export type ExchangeCode = (
  code: string,
  of: { readonly clientId: string; readonly sub: string },
) => Promise<{ readonly refreshToken: string } | { readonly fault: ExchangeFault }>;

export interface ExchangeCodeDeps {
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  /** Called for each exchange with its fault, if it has one, and its error, which names neither the code nor a token. */
  readonly onEnd: (fault: ExchangeFault | undefined, error?: Error) => void;
}

/** Limit for the codes of a provider that are exchanged at once. */
const maxAtOnce = 32;

/**
 * Exchanges a provider's codes. The client is loaded with the first code. Above {@link maxAtOnce} a code is not
 * exchanged, so that a slow provider holds neither more connections of the process nor every login.
 */
export function createExchangeCode(exchange: ProviderExchange, { fetch, now, onEnd }: ExchangeCodeDeps): ExchangeCode {
  let loaded: Promise<ProviderClient> | undefined;
  async function load(): Promise<ProviderClient> {
    const { createProviderClient } = await import('@auth-account/tokens/provider-client');
    return createProviderClient(exchange, { fetch, now });
  }
  function fail(fault: ExchangeFault, error?: Error) {
    onEnd(fault, error);
    return { fault };
  }
  let underWay = 0;
  return async (code, { clientId, sub }) => {
    if (underWay >= maxAtOnce) return fail('unavailable', new Error(`${maxAtOnce} exchanges are under way`));
    underWay += 1;
    try {
      loaded ??= load();
      const { refreshToken, sub: person } = await (await loaded).exchange(code, clientId);
      if (person !== sub) return fail('other_person');
      onEnd(undefined);
      return { refreshToken };
    } catch (error) {
      return fail((error as { readonly fault?: RefusalFault }).fault ?? 'unavailable', error as Error);
    } finally {
      underWay -= 1;
    }
  };
}
