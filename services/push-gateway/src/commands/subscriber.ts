import type { CloseRecorder } from '@auth-account/messaging/close-records';
import {
  type CloseCommand,
  type GatewayCommand,
  parseCommand,
  type ReplaceCommand,
} from '@auth-account/messaging/commands';
import { createSubscription, type RedisClient, type Subscription } from '@auth-account/redis';
import { contextOf, exemplarLabels, inSpan, type Logger } from '@auth-account/telemetry';
import type { PushMetrics } from '../runtime/metrics.ts';
import type { ConnectionRegistry } from '../streams/connection-registry.ts';

export interface SubscriberDeps {
  /** A connection for this subscription alone. */
  readonly redis: RedisClient;
  readonly channel: string;
  readonly registry: Pick<ConnectionRegistry, 'close' | 'replace'>;
  /** Called whenever the subscription is established (again). Commands that were published before are lost. */
  readonly onSubscribed: () => void;
  readonly recordClose: CloseRecorder['record'];
  readonly metrics: Pick<PushMetrics, 'commands' | 'closeLatency'>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Carries out the commands of the channel. Between a message and its close frames it neither awaits nor logs anything.
 */
export function createSubscriber(deps: SubscriberDeps): Subscription {
  const { redis, channel, registry, onSubscribed, recordClose, metrics, logger, now } = deps;

  function close(command: CloseCommand): boolean {
    const { session_id: sessionId, reason, below = Number.POSITIVE_INFINITY, decided_at, request_id } = command;
    if (registry.close(sessionId, (ver) => (ver < below ? reason : undefined)) === 0) return false;
    const at = now();
    const latencyMs = Math.max(0, at - decided_at);
    metrics.closeLatency.observe({ value: latencyMs / 1_000, exemplarLabels: exemplarLabels() });
    recordClose({ requestId: request_id, sessionId, reason, at, latencyMs });
    return true;
  }

  function closeTraced(command: CloseCommand): boolean {
    const { request_id: requestId, traceparent } = command;
    if (traceparent === undefined) return close(command);
    const options = { attributes: { 'push.close.reason': command.reason } };
    return inSpan('push.close', options, contextOf({ requestId, traceparent }), () => close(command));
  }

  function replace({ streams }: ReplaceCommand): boolean {
    const replaced = streams.filter(({ session_id, stream_number }) => registry.replace(session_id, stream_number));
    return replaced.length > 0;
  }

  function obey(command: GatewayCommand): boolean {
    return command.type === 'close' ? closeTraced(command) : replace(command);
  }

  function onMessage(_channel: string, message: string): void {
    const command = parseCommand(message);
    if (command === undefined) {
      metrics.commands.inc({ result: 'malformed' });
      logger.warn({ length: message.length }, 'malformed command');
      return;
    }
    metrics.commands.inc({ result: obey(command) ? 'applied' : 'ignored' });
  }
  return createSubscription({
    redis,
    channels: [channel],
    onMessage,
    onSubscribed,
    onError: (error) => logger.warn({ err: error }, 'not subscribed to commands'),
  });
}
