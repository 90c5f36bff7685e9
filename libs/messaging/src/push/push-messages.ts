import { randomUUID } from 'node:crypto';
import {
  type FactorRemovalPayload,
  factorRemovalTopic,
  maxPushMessageBytes,
  ownTopicPrefix,
  PushMessage,
} from '@auth-account/contracts/push/push-message';
import { publish, type RedisClient, type RedisKeys } from '@auth-account/redis';
import { Compile } from 'typebox/schema';
import { faultsOf } from '../faults-of.ts';

/** A message to apps, without its addressee. */
export interface PushContent {
  /** Subject: lower-case letters, digits, `.`, `_` and `-`, at most 128 characters. */
  readonly topic: string;
  /** Any JSON value. */
  readonly payload: unknown;
  /** 1 to 64 visible ASCII characters; default a new UUID. */
  readonly id?: string;
  /** Time of the event, a valid date; default now. */
  readonly at?: Date;
}

/**
 * Publishes to apps whose streams are open. Messages are hints, delivered at most once. A device or gateway that is
 * disconnected loses the message. Each function throws a `TypeError` if the message is malformed and a `RangeError` if
 * its JSON has more than 16 KiB, and rejects with Redis's error if publishing fails.
 */
export interface PushMessagePublisher {
  toGroup(homeGroupId: string, content: PushContent): Promise<void>;
  toSession(sessionId: string, content: PushContent): Promise<void>;
}

const validator = Compile(PushMessage);

/**
 * Publishes messages of internal services, over the caller's connection. The connection needs rights only for the
 * channel `{KEY_PREFIX}:messages`. Topics that begin with `security.` are refused as malformed.
 *
 * @example
 * const push = createPushMessagePublisher(redis, redisKeys('auth'));
 * await push.toGroup(homeGroupId, { topic: 'inventory.item.changed', payload: { item_id } });
 */
export function createPushMessagePublisher(
  redis: RedisClient,
  keys: Pick<RedisKeys, 'messages'>,
): PushMessagePublisher {
  return createPublisher(redis, keys.messages, false);
}

/** Publishes this service's own messages, on the channel for which internal services have no rights. */
export function createOwnMessagePublisher(
  redis: RedisClient,
  keys: Pick<RedisKeys, 'ownMessages'>,
): PushMessagePublisher {
  return createPublisher(redis, keys.ownMessages, true);
}

/** Returns the message to apps about an ordered removal of the second factor, or about its stop if `dueAt` is null. */
export function factorRemovalMessage(dueAt: Date | null, at: Date): PushContent {
  const payload: FactorRemovalPayload = { due_at: dueAt?.toISOString() ?? null };
  return { topic: factorRemovalTopic, payload, at };
}

function createPublisher(redis: RedisClient, channel: string, isOwn: boolean): PushMessagePublisher {
  async function send(to: object, { topic, payload, id = randomUUID(), at = new Date() }: PushContent): Promise<void> {
    const text = JSON.stringify({ ...to, id, topic, payload, timestamp: at.toISOString() });
    assertSize(text);
    const sent: unknown = JSON.parse(text);
    if (!validator.Check(sent)) {
      const faults = new Set(faultsOf(PushMessage, sent));
      throw new TypeError(`the message is malformed: ${[...faults].join(', ')}`);
    }
    if (isReserved(topic) && !isOwn)
      throw new TypeError(`the message is malformed: topics ${ownTopicPrefix}* are reserved`);
    await publish(redis, channel, text);
  }
  return {
    toGroup: (homeGroupId, content) => send({ home_group_id: homeGroupId }, content),
    toSession: (sessionId, content) => send({ session_id: sessionId }, content),
  };
}

/**
 * Reads the message from a text of a channel, by default the internal services' channel. If that fails, returns the
 * reason. Never throws.
 */
export function parsePushMessage(text: string, isOwn = false): PushMessage | 'too_big' | 'malformed' | 'reserved' {
  if (Buffer.byteLength(text) > maxPushMessageBytes) return 'too_big';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'malformed';
  }
  if (!validator.Check(value)) return 'malformed';
  if ('home_group_id' in value && 'session_id' in value) return 'malformed';
  return isReserved(value.topic) && !isOwn ? 'reserved' : value;
}

function isReserved(topic: string): boolean {
  return topic.startsWith(ownTopicPrefix);
}

function assertSize(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxPushMessageBytes) return;
  throw new RangeError(`the message has ${bytes} bytes of JSON, and ${maxPushMessageBytes} are the most`);
}
