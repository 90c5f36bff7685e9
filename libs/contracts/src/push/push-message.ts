import { Type } from 'typebox';
import { Timestamp, Uuid } from '../http/fields.ts';

/** Longest message on the channel, in bytes of its JSON (UTF-8). */
export const maxPushMessageBytes = 16 * 1024;

/** For the app to recognise what it has had already, by another way; the gateways don't look at it. */
export const MessageId = Type.String({ pattern: '^[!-~]{1,64}$' });

/** The subject of the message, in the publisher's own words: `inventory.item.changed`. */
export const MessageTopic = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,127}$' });

const content = { id: MessageId, topic: MessageTopic, payload: Type.Unknown(), timestamp: Timestamp };

/** To every stream of the group. */
const GroupMessage = Type.Object({ home_group_id: Uuid, ...content });
/** To one device's stream. */
const SessionMessage = Type.Object({ session_id: Uuid, ...content });

/**
 * A message to apps, published on the channel `{KEY_PREFIX}:messages`: to a group or to a session, never both.
 * Other members are dropped on the way.
 */
export const PushMessage = Type.Union([GroupMessage, SessionMessage]);
export type PushMessage = Type.Static<typeof PushMessage>;
