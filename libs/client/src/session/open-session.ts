import { createExchange, type ExchangeConfig } from '../http/exchange.ts';
import type { Log, Platform } from '../platform/platform.ts';
import type { SafeStorage } from '../platform/safe-storage.ts';
import { type Access, createAccessHolder } from './access.ts';
import { createExclusive } from './exclusive.ts';
import { createKeeper } from './keeper.ts';
import { createPendingLogouts } from './pending-logouts.ts';
import { createRenewal, type Renewal } from './renew.ts';
import { createVault, type VaultDeps } from './vault.ts';

export interface SessionHooks {
  readonly onChange: VaultDeps['onChange'];
  readonly onWritten: VaultDeps['onWritten'];
  readonly onAccess: (access: Access) => void;
  readonly onUse: () => void;
}

/** The connected parts that keep the session. */
export type SessionParts = ReturnType<typeof openSession>;

export function openSession(
  platform: Platform & { readonly storage: SafeStorage },
  config: ExchangeConfig & { readonly prefix: string },
  { onChange, onWritten, onAccess, onUse }: SessionHooks,
  log: Log,
) {
  const { prefix } = config;
  const { monotonic, randomUUID, now } = platform;
  const exchange = createExchange(platform, config, log);
  const exclusive = createExclusive(platform, prefix);
  const vault = createVault({
    ...{ platform, exclusive, prefix, log, onWritten },
    onChange(before, after) {
      // The logout of a session that has ended may need a refresh, and two refreshes must not run at once.
      if (before?.era !== after?.era) renewal.abort();
      onChange(before, after);
    },
  });
  const holder = createAccessHolder(monotonic, onAccess);
  const renewal: Renewal = createRenewal({ platform, exchange, exclusive, vault, holder });
  const keeper = createKeeper({ monotonic, randomUUID, now, vault, holder, renewal, onUse });
  const logouts = createPendingLogouts({ platform, exchange, exclusive, vault });
  return { log, exchange, exclusive, vault, holder, keeper, logouts };
}
