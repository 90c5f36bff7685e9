import type { MessageFrame } from '@auth-account/contracts/push/frames';
import { maxPushMessageBytes, type PushMessage } from '@auth-account/contracts/push/push-message';
import { parsePushMessage } from '@auth-account/messaging/push-messages';
import { createSubscription, type RedisClient, type RedisKeys, type Subscription } from '@auth-account/redis';
import type { Logger } from '@auth-account/telemetry';
import type { PushMetrics } from '../runtime/metrics.ts';
import { type Connection, sendText } from '../streams/connection.ts';
import type { ConnectionRegistry } from '../streams/connection-registry.ts';

export interface DeliverMessagesDeps {
  readonly registry: Pick<ConnectionRegistry, 'ofGroup' | 'ofSession'>;
  readonly metrics: Pick<PushMetrics, 'messages' | 'messageFrames'>;
}

export interface MessageSubscriptionDeps extends DeliverMessagesDeps {
  /** A connection for this subscription alone. */
  readonly redis: RedisClient;
  readonly keys: Pick<RedisKeys, 'messages' | 'ownMessages'>;
  readonly logger: Logger;
}

type MessageResult = 'delivered' | 'ignored' | 'malformed' | 'too_big' | 'reserved' | 'overload';

interface Delivery {
  readonly frame: Buffer;
  /**
   * The streams at the message's arrival, so that an app that reconnects during the sending does not get the message
   * twice.
   */
  readonly connections: readonly Connection[];
}

/**
 * Limit for the frames sent in one turn of the event loop: about a millisecond. Close commands and handshakes are
 * handled between the turns.
 */
const framesPerTurn = 100;
/**
 * Limit for the messages that wait for their turn; further messages are dropped. The waiting messages hold 16 MiB at
 * most.
 */
const maxQueue = 1_000;

/**
 * Handles both channels of messages. Each message goes to the streams of its group or session, in the order of arrival.
 * A message is encoded once, whatever the number of streams, and is not kept for an absent stream.
 */
export function createDeliverMessages({
  registry,
  metrics,
}: DeliverMessagesDeps): (text: string, isOwn?: boolean) => void {
  const queue: Delivery[] = [];
  /** Number of streams to which the first delivery in the queue has been sent. */
  let done = 0;
  let isScheduled = false;

  /** The handler itself sends nothing, because one turn can bring hundreds of messages. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(sendSome);
  }

  function findConnections(message: PushMessage): Connection[] {
    return 'home_group_id' in message
      ? registry.ofGroup(message.home_group_id)
      : registry.ofSession(message.session_id);
  }

  function sendSome(): void {
    isScheduled = false;
    let sent = 0;
    let gone = 0;
    for (let left = framesPerTurn; left > 0 && queue[0] !== undefined; left -= 1) {
      const { frame, connections } = queue[0];
      const connection = connections[done];
      if (connection !== undefined && sendText(connection, frame)) sent += 1;
      else gone += 1;
      done += 1;
      if (done < connections.length) continue;
      queue.shift();
      done = 0;
    }
    metrics.messageFrames.inc({ result: 'sent' }, sent);
    metrics.messageFrames.inc({ result: 'gone' }, gone);
    if (queue.length > 0) schedule();
  }

  /** Queues the message, if its group or session has streams here. Returns the result. */
  function take(text: string, isOwn: boolean): MessageResult {
    const message = parsePushMessage(text, isOwn);
    if (typeof message === 'string') return message;
    const connections = findConnections(message);
    if (connections.length === 0) return 'ignored';
    if (queue.length >= maxQueue) return 'overload';
    const frame = encodeFrame(message);
    if (typeof frame === 'string') return frame;
    queue.push({ frame, connections });
    schedule();
    return 'delivered';
  }

  return (text, isOwn = false) => metrics.messages.inc({ result: take(text, isOwn) });
}

/**
 * Encodes the frame once for all streams, or returns the reason why it can't be sent. A frame can be longer and nested
 * deeper than its message.
 */
function encodeFrame({ id, topic, payload, timestamp }: PushMessage): Buffer | 'too_big' | 'malformed' {
  const frame: MessageFrame = { type: 'message', id, topic, payload, timestamp };
  try {
    const bytes = Buffer.from(JSON.stringify(frame));
    return bytes.length > maxPushMessageBytes ? 'too_big' : bytes;
  } catch {
    // Thousands of nested arrays can be parsed, but not serialized.
    return 'malformed';
  }
}

/**
 * Subscribes to the messages for apps, from this service and from others. These messages are hints. A message that is
 * published while the connection is broken is lost.
 */
export function createMessageSubscription(deps: MessageSubscriptionDeps): Subscription {
  const { redis, keys, logger } = deps;
  const deliver = createDeliverMessages(deps);
  return createSubscription({
    redis,
    channels: [keys.messages, keys.ownMessages],
    onMessage: (channel, text) => deliver(text, channel === keys.ownMessages),
    onSubscribed: () => logger.info('subscribed to messages'),
    onError: (error) => logger.warn({ err: error }, 'not subscribed to messages'),
  });
}
