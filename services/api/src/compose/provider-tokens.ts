import type { Logger } from '@auth-account/telemetry';
import type { ApiConfig } from '../config.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import { createVerifyIdToken, type IdTokenDeps } from '../security/providers/id-tokens.ts';
import { readProviders, type VerifyIdToken } from '../security/providers/provider.ts';

interface Parts {
  readonly metrics: ApiMetrics;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Creates the check of each provider's tokens, and counts what it finds. Opens nothing. */
export function openProviders(
  { IDENTITY_PROVIDERS: entries }: ApiConfig,
  parts: Parts,
): ReadonlyMap<string, VerifyIdToken> {
  const { now } = parts;
  return new Map(
    [...readProviders(entries)].map(([name, provider]) => [
      name,
      createVerifyIdToken(provider, { fetch, elapsed, now: () => new Date(now()), ...watchProvider(name, parts) }),
    ]),
  );
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
    onKeys(freshUntil) {
      overdueFrom = freshUntil;
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
