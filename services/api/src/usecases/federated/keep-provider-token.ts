import type { IdentityDocument } from '@auth-account/stores/documents';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { SealedSecrets } from '@auth-account/tokens';
import { Binary } from 'mongodb';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { ExchangeCode } from '../../security/providers/exchange-code.ts';

export interface KeepProviderTokenDeps {
  readonly identities: Pick<IdentityStore, 'keepToken'>;
  /** The exchange of codes, by the provider's name. A provider without exchange is missing. */
  readonly exchanges: ReadonlyMap<string, ExchangeCode>;
  readonly sealedSecrets: Pick<SealedSecrets, 'seal'>;
  readonly onNotStored: (error: Error) => void;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** An authorization code that an app has sent with an ID token, and the person of the token. */
export interface GivenCode {
  readonly code: string | undefined;
  readonly clientId: string;
  readonly userId: string;
  readonly identity: IdentityDocument | undefined;
}

/** Exchanges the code: see {@link createKeepProviderToken}. */
export type KeepProviderToken = (given: GivenCode, origin: RequestOrigin) => Promise<void>;

/**
 * Exchanges an authorization code for the provider's refresh token and keeps the token, if the identity has none. It
 * never fails, and takes some seconds at most: a login must not depend on it. If it does not succeed, the next login
 * with a code tries again. Of two simultaneous logins with codes, one token is kept. If the identity is gone by then,
 * its token waits for its revocation.
 */
export function createKeepProviderToken(deps: KeepProviderTokenDeps): KeepProviderToken {
  const { identities, exchanges, sealedSecrets, onNotStored, audit, now } = deps;

  async function keep(exchange: ExchangeCode, { code, clientId, userId, identity }: WholeCode) {
    const exchanged = await exchange(code, { clientId, sub: identity.sub });
    if ('fault' in exchanged) return exchanged.fault;
    const owner = { userId, factorId: identity.id };
    const { kid, box } = sealedSecrets.seal(Buffer.from(exchanged.refreshToken), owner);
    const token = { kid, token: new Binary(box), client_id: clientId };
    try {
      return await identities.keepToken({ userId, identity }, token, now());
    } catch (error) {
      onNotStored(error as Error);
      return 'not_stored';
    }
  }

  return async (given, origin) => {
    const { code, identity, userId: user_id } = given;
    if (code === undefined || identity === undefined || identity.refresh_token !== undefined) return;
    const exchange = exchanges.get(identity.provider);
    if (exchange === undefined) return;
    const result = await keep(exchange, { ...given, code, identity });
    if (result === 'has_one') return;
    const shown = { user_id, identity_id: identity.id, provider: identity.provider };
    if (result === 'kept') audit({ event: 'provider_token.kept', ...shown }, origin);
    else {
      const reason = result === 'gone' ? 'identity_gone' : result;
      audit({ event: 'provider_token.refused', ...shown, reason }, origin);
    }
  };
}

type WholeCode = GivenCode & { readonly code: string; readonly identity: IdentityDocument };
