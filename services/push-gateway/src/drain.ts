import { setTimeout as delay } from 'node:timers/promises';
import { closeConnection } from './connection.ts';
import type { ConnectionRegistry } from './connection-registry.ts';

const tickMs = 20;
/** A gateway of few streams has no use for the whole time. */
const leastPerTick = 20;

export interface Drain {
  /** True from the beginning of the drain on: no stream may be opened any more. */
  isDraining(): boolean;
  /** Closes all streams (1001), evenly over at most `seconds`, so that their reconnects don't come all at once. */
  run(): Promise<void>;
}

/** Makes the drain of a gateway that stops. */
export function createDrain(registry: Pick<ConnectionRegistry, 'connections'>, seconds: number): Drain {
  let isDraining = false;
  return {
    isDraining: () => isDraining,
    async run() {
      isDraining = true;
      const connections = registry.connections();
      const ticks = Math.max(1, (seconds * 1_000) / tickMs);
      const perTick = Math.max(leastPerTick, Math.ceil(connections.length / ticks));
      for (let start = 0; start < connections.length; start += perTick) {
        for (const connection of connections.slice(start, start + perTick))
          closeConnection(connection, 'SERVER_DRAINING');
        await delay(tickMs);
      }
    },
  };
}
