import { readProviders } from '@auth-account/config';
import { createRefusalNotes, type RefusalNotes } from '@auth-account/messaging/process-reports';
import type { Logger } from '@auth-account/telemetry';
import type { ApiConfig } from '../config.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import { createExchangeCode, type ExchangeCode, type ExchangeCodeDeps } from '../security/providers/exchange-code.ts';
import { createProviderVerifiers, type IdTokenDeps } from '../security/providers/id-tokens.ts';
import type { VerifyIdToken } from '../security/providers/provider.ts';
import type { SecurityEventReceiver } from '../usecases/federated/receive-security-events.ts';

interface Parts {
  readonly metrics: ApiMetrics;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Questions of the api to the configured providers, by the provider's name. */
export interface ProviderParts {
  /** The check of each provider's tokens; empty if there are no providers. */
  readonly verifiers: ReadonlyMap<string, VerifyIdToken>;
  /** The exchange of codes. A provider without exchange is missing. */
  readonly exchanges: ReadonlyMap<string, ExchangeCode>;
  /** Returns the providers that have refused this api's proof since they last took it. */
  readonly refusals: RefusalNotes['report'];
  /** Reports a token that the store has not kept. */
  readonly onNotStored: (error: Error) => void;
  /** Verifies security event tokens. A provider that sends none is missing. */
  readonly notices: ReadonlyMap<string, SecurityEventReceiver>;
}

/** Asks the providers, and counts their results. Opens nothing. */
export function openProviders({ IDENTITY_PROVIDERS: entries }: ApiConfig, parts: Parts): ProviderParts {
  const { logger } = parts;
  const now = () => new Date(parts.now());
  const providers = [...readProviders(entries).values()].map((provider) => ({
    ...provider,
    verify: createProviderVerifiers(provider, { fetch, elapsed, now, ...watchProvider(provider.name, parts) }),
  }));
  const refusals = createRefusalNotes(parts.now);
  const onEndOf =
    (provider: string): ExchangeCodeDeps['onEnd'] =>
    (reason, err) => {
      refusals.note(provider, reason);
      if (reason !== undefined) logger.warn({ err, provider, reason }, 'the code of a provider was not exchanged');
    };
  return {
    refusals: refusals.report,
    onNotStored: (err) => logger.warn({ err }, "a provider's token was not stored"),
    verifiers: new Map(providers.map(({ name, verify }) => [name, verify.idToken])),
    notices: new Map(
      providers.flatMap(({ name, notices, emailDomains, verify }) =>
        notices === undefined ? [] : [[name, { verify: verify.notice, emailDomains }] as const],
      ),
    ),
    exchanges: new Map(
      providers.flatMap(({ name, exchange }) =>
        exchange === undefined
          ? []
          : [[name, createExchangeCode(exchange, { fetch, now, onEnd: onEndOf(name) })] as const],
      ),
    ),
  };
}

const elapsed = () => performance.now();

/** Counts the tokens and the requests for keys of a provider. */
function watchProvider(
  provider: string,
  { metrics, logger }: Parts,
): Pick<IdTokenDeps, 'onKeys' | 'onError' | 'onToken'> {
  let overdueFrom: number | undefined;
  let isFailing = false;
  metrics.watchProviderKeys(provider, () =>
    isFailing && overdueFrom !== undefined ? Math.max(0, elapsed() - overdueFrom) / 1_000 : 0,
  );
  return {
    onKeys(cachedUntil) {
      overdueFrom = cachedUntil;
      isFailing = false;
      metrics.providerKeyFetches.inc({ provider, outcome: 'fetched' });
    },
    onError(error) {
      overdueFrom ??= elapsed();
      isFailing = true;
      metrics.providerKeyFetches.inc({ provider, outcome: 'failed' });
      logger.warn({ err: error, provider }, 'the keys of a provider could not be fetched');
    },
    onToken: (result) => metrics.providerTokens.inc({ provider, result }),
  };
}
