import { type CloseCommand, type GatewayCommand, parseCommand } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';
import type { Redis } from 'ioredis';
import type { ConnectionRegistry } from './connection-registry.ts';
import type { PushMetrics } from './metrics.ts';

export interface SubscriberDeps {
  /** A connection that does nothing else. */
  readonly redis: Redis;
  readonly channel: string;
  readonly registry: Pick<ConnectionRegistry, 'close' | 'replace'>;
  /** Called each time that commands come in (again). What was published before is lost. */
  readonly onSubscribed: () => void;
  readonly metrics: Pick<PushMetrics, 'commands' | 'closeLatency'>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Obeys the commands of the channel. From message to close frame nothing is awaited and nothing is logged. */
export function createSubscriber(deps: SubscriberDeps): { isSubscribed(): boolean } {
  const { redis, channel, registry, onSubscribed, metrics, logger, now } = deps;
  let isSubscribed = false;

  function close({ session_id, reason, below = Number.POSITIVE_INFINITY, decided_at }: CloseCommand): boolean {
    if (registry.close(session_id, (ver) => (ver < below ? reason : undefined)) === 0) return false;
    metrics.closeLatency.observe(Math.max(0, now() - decided_at) / 1_000);
    return true;
  }

  function obey(command: GatewayCommand): boolean {
    return command.type === 'close' ? close(command) : registry.replace(command.session_id, command.stream_number);
  }

  redis.on('message', (_channel, message) => {
    const command = parseCommand(message);
    if (command === undefined) {
      metrics.commands.inc({ result: 'malformed' });
      logger.warn({ length: message.length }, 'malformed command');
      return;
    }
    metrics.commands.inc({ result: obey(command) ? 'applied' : 'ignored' });
  });
  redis.on('close', () => {
    isSubscribed = false;
  });
  redis.on('ready', () => {
    redis.subscribe(channel).then(
      () => {
        isSubscribed = true;
        onSubscribed();
      },
      // The connection went away again: the next `ready` subscribes.
      (error: unknown) => logger.warn({ err: error }, 'not subscribed to commands'),
    );
  });
  return { isSubscribed: () => isSubscribed };
}
