import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@auth-account/telemetry';
import type { PushGatewayConfig } from '../config.ts';
import { type Connection, closeConnection, sendFrame } from './connection.ts';
import type { ConnectionRegistry } from './connection-registry.ts';

const tickMs = 20;

export interface DrainDeps {
  readonly registry: Pick<ConnectionRegistry, 'connections'>;
  readonly config: Pick<PushGatewayConfig, 'DRAIN_SECONDS' | 'DRAIN_RECONNECTS_PER_SECOND'>;
  readonly logger: Logger;
  /** Chooses the moment within a slot, from 0 to 1. */
  readonly random?: () => number;
}

export interface Drain {
  /** Returns true once the drain has begun. From then on, no stream may be opened. */
  isDraining(): boolean;
  /**
   * Closes all streams (1001), evenly over the time that their reconnects take at the configured rate, or over
   * `DRAIN_SECONDS` if that is less. Before its stream closes, each app gets a `reconnect` frame with the time to wait.
   * The wait ends at a random moment in a slot that only this app has. The length of a slot follows from the rate. The
   * last slots may end after the last stream has been closed.
   */
  run(): Promise<void>;
}

/** Drains a gateway that stops. */
export function createDrain(deps: DrainDeps): Drain {
  const { registry, config, logger, random = Math.random } = deps;
  const slotMs = 1_000 / config.DRAIN_RECONNECTS_PER_SECOND;
  let isDraining = false;

  function dismiss(connection: Connection, afterMs: number): void {
    sendFrame(connection, { type: 'reconnect', after_ms: Math.max(0, Math.round(afterMs)) });
    closeConnection(connection, 'SERVER_DRAINING');
  }

  return {
    isDraining: () => isDraining,
    async run() {
      isDraining = true;
      const connections = registry.connections();
      const reconnectMs = connections.length * slotMs;
      const closingMs = Math.min(config.DRAIN_SECONDS * 1_000, reconnectMs);
      logger.info({ streams: connections.length, closingMs, reconnectMs }, 'draining');
      const start = performance.now();
      let slot = 0;
      for (let done = 0; done < connections.length; await delay(tickMs)) {
        const elapsed = performance.now() - start;
        const due = Math.ceil(connections.length * Math.min(1, (elapsed + tickMs) / closingMs));
        // If the process was held up, its slots are postponed, not used all at once.
        slot = Math.max(slot, elapsed);
        for (const connection of connections.slice(done, due)) {
          dismiss(connection, slot + random() * slotMs - elapsed);
          slot += slotMs;
        }
        done = Math.max(done, due);
      }
    },
  };
}
