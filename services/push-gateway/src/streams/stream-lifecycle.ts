import { closeCodes } from '@auth-account/contracts/push/close-codes';
import type { GatewayCommand } from '@auth-account/messaging/commands';
import type { Logger } from '@auth-account/telemetry';
import { clientCodes, type PushMetrics } from '../runtime/metrics.ts';
import { createTickBatcher } from './batch-per-tick.ts';
import { type Connection, sendFrame } from './connection.ts';
import type { ConnectionRegistry, PendingUpgrade } from './connection-registry.ts';
import type { ExpirySweep } from './expiry-sweep.ts';
import type { PingWheel } from './ping-wheel.ts';

export interface StreamLifecycleDeps {
  readonly registry: Pick<ConnectionRegistry, 'add' | 'remove'>;
  readonly expiry: Pick<ExpirySweep, 'watch' | 'forget'>;
  readonly pings: Pick<PingWheel, 'watch'>;
  readonly publish: (command: GatewayCommand) => Promise<void>;
  readonly metrics: Pick<PushMetrics, 'opened' | 'closed' | 'commandsLost'>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Limit for the streams in one command. At the limit, a command has some 20 KB, which Redis copies for every gateway.
 */
const maxAnnounced = 256;

/** Handles a stream's opening and its end. */
export function createStreamLifecycle(deps: StreamLifecycleDeps) {
  const { registry, expiry, pings, publish, metrics, logger, now } = deps;
  /**
   * Only an open stream replaces another, so the announcement follows the upgrade, and nothing waits for it. The
   * streams of one turn go in one command, because every gateway gets every announcement, and after the restart of a
   * gateway there are tens of thousands of announcements.
   */
  const announce = createTickBatcher<Connection>(maxAnnounced, (connections) => {
    const streams = connections.map(({ sessionId, streamNumber }) => ({
      session_id: sessionId,
      stream_number: streamNumber,
    }));
    publish({ type: 'replace', streams }).catch((error: unknown) => {
      metrics.commandsLost.inc();
      logger.warn({ err: error, streams: streams.length }, 'the other gateways were not notified of new streams');
    });
  });

  return {
    onOpen(connection: Connection, upgrade: PendingUpgrade): void {
      metrics.opened.inc();
      expiry.watch(connection);
      pings.watch(connection);
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
    onClose(connection: Connection, code: number, text: string): void {
      registry.remove(connection);
      expiry.forget(connection);
      metrics.closed.inc(endOf(connection, code, text));
    },
  };
}

/** Texts of uWebSockets.js when it cuts a connection itself, without a close frame. */
const cuts: Readonly<Record<string, string>> = {
  'Received invalid UTF-8': 'INVALID_UTF8',
  'Received too big message': 'MESSAGE_TOO_BIG',
  'WebSocket timed out from inactivity': 'IDLE',
};

/** A client may close with any of thousands of codes, so unexpected codes are counted together. */
function endOf({ endedBy }: Connection, code: number, text: string): { reason: string; code: string } {
  if (endedBy !== undefined) return { reason: endedBy, code: String(closeCodes[endedBy]) };
  if (code === 1006) return { reason: cuts[text] ?? 'CONNECTION_LOST', code: '1006' };
  const sent = String(code);
  return { reason: 'CLIENT_CLOSED', code: clientCodes.includes(sent) ? sent : 'other' };
}
