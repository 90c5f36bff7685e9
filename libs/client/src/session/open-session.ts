import { createExchange, type ExchangeConfig } from '../http/exchange.ts';
import type { Log, Platform } from '../platform/platform.ts';
import type { SafeStorage } from '../platform/safe-storage.ts';
import { type Access, createAccessHolder } from './access.ts';
import { createExclusive } from './exclusive.ts';
import { createPendingLogouts } from './pending-logouts.ts';
import { createRenewal, type Renewal } from './renew.ts';
import { createSessionManager } from './session-manager.ts';
import { createSessionStorage, type SessionStorageDeps } from './session-storage.ts';

export interface SessionHooks {
  readonly onChange: SessionStorageDeps['onChange'];
  readonly onWritten: SessionStorageDeps['onWritten'];
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
  const sessionStorage = createSessionStorage({
    ...{ platform, exclusive, prefix, log, onWritten },
    onChange(before, after) {
      // The logout of a session that has ended may need a refresh, and two refreshes must not run at once.
      if (before?.era !== after?.era) renewal.abort();
      onChange(before, after);
    },
  });
  const holder = createAccessHolder(monotonic, onAccess);
  const renewal: Renewal = createRenewal({ platform, exchange, exclusive, sessionStorage, holder });
  const sessionManager = createSessionManager({ monotonic, randomUUID, now, sessionStorage, holder, renewal, onUse });
  const logouts = createPendingLogouts({ platform, exchange, exclusive, sessionStorage });
  return { log, exchange, exclusive, sessionStorage, holder, sessionManager, logouts };
}
