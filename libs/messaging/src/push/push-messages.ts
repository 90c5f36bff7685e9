import { randomUUID } from 'node:crypto';
import { maxPushMessageBytes, PushMessage } from '@auth-account/contracts';
import { publish, type RedisClient, type RedisKeys } from '@auth-account/redis';
import { Compile } from 'typebox/compile';

/** A message to apps, without whom it goes to. */
export interface PushContent {
  /** What it is about: lower case, digits, `..`, `_` and `-`, 128 characters at most. */
  readonly topic: string;
  /** Any JSON value. */
  readonly payload: unknown;
  /** 1 to 64 visible ASCII characters; a new UUID where absent. */
  readonly id?: string;
  /** When it happened, a valid date; now where absent. */
  readonly at?: Date;
}

/**
 * Publishes to apps whose streams are open: hints, at most once. Nobody hears what was published while a device or a
 * gateway was away. Each throws a `TypeError` where the message is malformed, and a `RangeError` where its JSON has more
 * than 16 KiB; it rejects with Redis's error where that does not take it.
 */
export interface PushMessagePublisher {
  toGroup(homeGroupId: string, content: PushContent): Promise<void>;
  toSession(sessionId: string, content: PushContent): Promise<void>;
}

const validator = Compile(PushMessage);

/**
 * Makes the publisher for sibling services, over a connection of the caller's. It needs rights for the channel
 * `{KEY_PREFIX}:messages` and no other.
 *
 * @example
 * const push = createPushMessagePublisher(redis, redisKeys('auth'));
 * await push.toGroup(homeGroupId, { topic: 'inventory.item.changed', payload: { item_id } });
 */
export function createPushMessagePublisher(
  redis: RedisClient,
  keys: Pick<RedisKeys, 'messages'>,
): PushMessagePublisher {
  async function send(to: object, { topic, payload, id = randomUUID(), at = new Date() }: PushContent): Promise<void> {
    const text = JSON.stringify({ ...to, id, topic, payload, timestamp: at.toISOString() });
    assertSize(text);
    if (!validator.Check(JSON.parse(text))) throw new TypeError(`the message is malformed: ${faultOf(text)}`);
    await publish(redis, keys.messages, text);
  }
  return {
    toGroup: (homeGroupId, content) => send({ home_group_id: homeGroupId }, content),
    toSession: (sessionId, content) => send({ session_id: sessionId }, content),
  };
}

/** The message in a text of the channel, or why there is none. It never throws. */
export function parsePushMessage(text: string): PushMessage | 'too_big' | 'malformed' {
  if (Buffer.byteLength(text) > maxPushMessageBytes) return 'too_big';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'malformed';
  }
  if (!validator.Check(value)) return 'malformed';
  return 'home_group_id' in value && 'session_id' in value ? 'malformed' : value;
}

function assertSize(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxPushMessageBytes) return;
  throw new RangeError(`the message has ${bytes} bytes of JSON, and ${maxPushMessageBytes} are the most`);
}

/** Where it is wrong, and never what it holds. */
function faultOf(text: string): string {
  const faults = validator
    .Errors(JSON.parse(text))
    .map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  return [...new Set(faults)].join(', ');
}
