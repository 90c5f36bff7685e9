import { Timestamp, Uuid } from '../http/fields.ts';
import { Platform } from '../http/login.ts';
import * as Type from '../type.ts';

/** Limit for a message on the channel, in bytes of its JSON (UTF-8). */
export const maxPushMessageBytes = 16 * 1024;

/** Id by which the app recognises a message that it has already received otherwise. Gateways ignore it. */
export const MessageId = Type.String({ pattern: '^[!-~]{1,64}$' });

/** Subject of the message, chosen by the publisher, such as `inventory.item.changed`. */
export const MessageTopic = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,127}$' });

const content = { id: MessageId, topic: MessageTopic, payload: Type.Unknown(), timestamp: Timestamp };

/** Goes to every stream of the group. */
export const GroupMessage = Type.Object({ home_group_id: Uuid, ...content });
export type GroupMessage = Type.Static<typeof GroupMessage>;
/** Goes to the stream of one device. */
export const SessionMessage = Type.Object({ session_id: Uuid, ...content });
export type SessionMessage = Type.Static<typeof SessionMessage>;

/**
 * A message to apps. Other services publish it on the channel `{KEY_PREFIX}:messages`, and this service on
 * `{KEY_PREFIX}:own-messages`. It is addressed to a group or to a session, never to both. The gateways drop unknown
 * members.
 */
export const PushMessage = Type.Union([GroupMessage, SessionMessage]);
export type PushMessage = Type.Static<typeof PushMessage>;

/**
 * Beginning of the topics that only this service uses. On the channel of other services, the gateways drop messages
 * with these topics.
 */
export const ownTopicPrefix = 'security.';

/** Topic of the message to an account's sessions about an ordered removal of the second factor. */
export const factorRemovalTopic = `${ownTopicPrefix}second_factor_removal` as const;

/** Payload of the message with {@link factorRemovalTopic}. `due_at` is null after a stop. */
export const FactorRemovalPayload = Type.Object({ due_at: Type.Union([Timestamp, Type.Null()]) });
export type FactorRemovalPayload = Type.Static<typeof FactorRemovalPayload>;

/** Topic of the message to an account's other sessions after a login on a new device. */
export const newDeviceTopic = `${ownTopicPrefix}new_device` as const;

/** Payload of the message with {@link newDeviceTopic}. */
export const NewDevicePayload = Type.Object({
  /** The new session. `DELETE /api/v1/auth/sessions/{session_id}` ends it. */
  session_id: Uuid,
  device_name: Type.Union([Type.String(), Type.Null()]),
  platform: Type.Union([Platform, Type.Null()]),
  created_at: Timestamp,
});
export type NewDevicePayload = Type.Static<typeof NewDevicePayload>;
