import { Timestamp, Uuid } from '../http/fields.ts';
import * as Type from '../type.ts';
import {
  FactorRemovalPayload,
  factorRemovalTopic,
  MessageId,
  MessageTopic,
  NewDevicePayload,
  newDeviceTopic,
} from './push-message.ts';

/**
 * First frame to the client. It reports that the stream is open, and how long the present access token keeps the stream
 * open.
 */
export const HelloFrame = Type.Object({
  type: Type.Literal('hello'),
  session_id: Uuid,
  home_group_id: Uuid,
  expires_at: Timestamp,
  timestamp: Timestamp,
});
export type HelloFrame = Type.Static<typeof HelloFrame>;

/** Answer to a client's `ping` frame. */
export const PongFrame = Type.Object({ type: Type.Literal('pong') });
export type PongFrame = Type.Static<typeof PongFrame>;

/** Answer to a client's `auth` frame. The stream now lasts until the new token expires. */
export const AuthOkFrame = Type.Object({ type: Type.Literal('auth_ok'), expires_at: Timestamp });
export type AuthOkFrame = Type.Static<typeof AuthOkFrame>;

/** Answer to a client's `auth` frame that did not extend the stream. The stream's end has not changed. */
export const ErrorFrame = Type.Object({ type: Type.Literal('error'), error_code: Type.String({ minLength: 1 }) });
export type ErrorFrame = Type.Static<typeof ErrorFrame>;

/**
 * A message of another service to the device's group or session. It is only a hint. It is delivered at most once, in
 * the order of publishing.
 */
export const MessageFrame = Type.Object({
  type: Type.Literal('message'),
  id: MessageId,
  topic: MessageTopic,
  payload: Type.Unknown(),
  timestamp: Timestamp,
});
export type MessageFrame = Type.Static<typeof MessageFrame>;

/** The message of this service to an account's other sessions after a login on a new device. */
export const NewDeviceFrame = Type.Object({
  ...MessageFrame.properties,
  topic: Type.Literal(newDeviceTopic),
  payload: NewDevicePayload,
});
export type NewDeviceFrame = Type.Static<typeof NewDeviceFrame>;

/** The message of this service to an account's sessions when the removal of the second factor is ordered or stopped. */
export const FactorRemovalFrame = Type.Object({
  ...MessageFrame.properties,
  topic: Type.Literal(factorRemovalTopic),
  payload: FactorRemovalPayload,
});
export type FactorRemovalFrame = Type.Static<typeof FactorRemovalFrame>;

/**
 * Last frame before a close with 1001. The app reconnects after the number of milliseconds in the frame, without
 * further delay. The pauses differ from stream to stream, so that the other gateways are not flooded.
 */
export const ReconnectFrame = Type.Object({
  type: Type.Literal('reconnect'),
  after_ms: Type.Integer({ minimum: 0 }),
});
export type ReconnectFrame = Type.Static<typeof ReconnectFrame>;

/** Frame from the client, by which the app checks that the stream is alive. Only the gateway sends RFC 6455 pings. */
export const PingFrame = Type.Object({ type: Type.Literal('ping') });
export type PingFrame = Type.Static<typeof PingFrame>;

/** Frame from the client that extends the stream after a refresh, for the same session and group. */
export const AuthFrame = Type.Object({ type: Type.Literal('auth'), access_token: Type.String({ minLength: 1 }) });
export type AuthFrame = Type.Static<typeof AuthFrame>;

export type ClientFrame = PingFrame | AuthFrame;
export type ServerFrame = HelloFrame | PongFrame | AuthOkFrame | ErrorFrame | MessageFrame | ReconnectFrame;
