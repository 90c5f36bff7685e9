import type { GatewayCommand } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';
import { type Connection, sendFrame } from './connection.ts';
import type { ConnectionRegistry, PendingUpgrade } from './connection-registry.ts';
import type { ExpirySweep } from './expiry-sweep.ts';
import type { PushMetrics } from './metrics.ts';

export interface StreamLifecycleDeps {
  readonly registry: Pick<ConnectionRegistry, 'add' | 'remove'>;
  readonly expiry: Pick<ExpirySweep, 'watch' | 'forget'>;
  readonly publish: (command: GatewayCommand) => Promise<void>;
  readonly metrics: Pick<PushMetrics, 'opened' | 'closed' | 'commandsLost'>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What happens when a stream opens and when it has ended. */
export function createStreamLifecycle({ registry, expiry, publish, metrics, logger, now }: StreamLifecycleDeps) {
  /** Only a stream that stands replaces another: announced after the upgrade, and not waited for. */
  function announce({ sessionId, streamNumber }: Connection): void {
    publish({ type: 'replace', session_id: sessionId, stream_number: streamNumber }).catch((error: unknown) => {
      metrics.commandsLost.inc();
      logger.warn({ err: error }, 'the other gateways were not told of a new stream');
    });
  }

  return {
    onOpen(connection: Connection, upgrade: PendingUpgrade): void {
      metrics.opened.inc();
      expiry.watch(connection);
      registry.add(connection, upgrade);
      if (connection.socket === undefined) return;
      sendFrame(connection, {
        type: 'hello',
        session_id: connection.sessionId,
        home_group_id: connection.groupId,
        expires_at: new Date(connection.expiresAt * 1_000).toISOString(),
        timestamp: new Date(now()).toISOString(),
      });
      announce(connection);
    },
    onClose(connection: Connection, code: number): void {
      registry.remove(connection);
      expiry.forget(connection);
      metrics.closed.inc({ reason: connection.endedBy ?? (code === 1006 ? 'CONNECTION_LOST' : 'CLIENT_CLOSED') });
    },
  };
}
