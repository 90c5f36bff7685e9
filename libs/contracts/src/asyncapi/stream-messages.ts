import { tokenExample } from '../http/login.ts';
import {
  AuthFrame,
  AuthOkFrame,
  ErrorFrame,
  FactorRemovalFrame,
  HelloFrame,
  MessageFrame,
  NewDeviceFrame,
  PingFrame,
  PongFrame,
  ReconnectFrame,
} from '../push/frames.ts';
import { factorRemovalTopic, GroupMessage, newDeviceTopic, SessionMessage } from '../push/push-message.ts';
import type { TSchema } from '../type.ts';

/** A message of the document: its schema, when it is sent, and examples by name. */
export interface DocumentedMessage {
  /** Name of the schema under `components.schemas`. */
  readonly schemaName: string;
  readonly schema: TSchema;
  readonly title: string;
  /** Says when the message is sent, in the words that docs/push.md shows. */
  readonly summary: string;
  readonly examples: Readonly<Record<string, object>>;
}

const { session_id, home_group_id, access_token, timestamp } = tokenExample.data;
const expires_at = '2026-11-20T09:41:00.000Z';
const content = {
  id: '0191f5d0-4a3e-7c11-9d2b-6f0e8a7c5b31',
  topic: 'inventory.item.changed',
  payload: { item_id: '0191f5c8-11d2-7e6a-8b90-2c4d6e8f0a12' },
  timestamp,
};

/** Messages from the gateway to the app. */
export const toApp = {
  hello: {
    schemaName: 'HelloFrame',
    schema: HelloFrame,
    title: 'The stream is open',
    summary: 'first frame. The token keeps the stream open until `expires_at`',
    examples: { hello: { type: 'hello', session_id, home_group_id, expires_at, timestamp } satisfies HelloFrame },
  },
  message: {
    schemaName: 'MessageFrame',
    schema: MessageFrame,
    title: 'Message of another service',
    summary: 'another service published it for the group or for this session',
    examples: { 'another service': { type: 'message', ...content } satisfies MessageFrame },
  },
  newDevice: {
    schemaName: 'NewDeviceFrame',
    schema: NewDeviceFrame,
    title: 'Login on a new device',
    summary:
      'this service: somebody logged in on a device that the account did not know. It goes to the other sessions of ' +
      'the account',
    examples: {
      'new device': {
        type: 'message',
        id: '019a9e0f-5d21-7a44-b1c7-8e3f2a6d9c05',
        topic: newDeviceTopic,
        payload: {
          session_id: '019a9e0f-5d1e-7f02-93ab-4d7c1e5b8a26',
          device_name: 'Pixel 9',
          platform: 'android',
          created_at: timestamp,
        },
        timestamp,
      } satisfies NewDeviceFrame,
    },
  },
  factorRemoval: {
    schemaName: 'FactorRemovalFrame',
    schema: FactorRemovalFrame,
    title: 'Removal of the second factor',
    summary:
      'this service: somebody ordered the removal of the second factor, or stopped it (`due_at` null). It goes to the ' +
      'sessions of the account, each of which can stop it',
    examples: {
      ordered: {
        type: 'message',
        id: '019a9e0f-5d21-7a44-b1c7-8e3f2a6d9c07',
        topic: factorRemovalTopic,
        payload: { due_at: '2026-11-23T09:31:00.000Z' },
        timestamp,
      } satisfies FactorRemovalFrame,
    },
  },
  authOk: {
    schemaName: 'AuthOkFrame',
    schema: AuthOkFrame,
    title: 'The stream is extended',
    summary: 'an `auth` frame was accepted',
    examples: { extended: { type: 'auth_ok', expires_at } satisfies AuthOkFrame },
  },
  error: {
    schemaName: 'ErrorFrame',
    schema: ErrorFrame,
    title: 'The stream is not extended',
    summary: 'an `auth` frame was refused; the stream lasts as long as before',
    examples: {
      'expired token': { type: 'error', error_code: 'IAD_JWT_ACCESS_EXPIRED' } satisfies ErrorFrame,
      'two at a time': { type: 'error', error_code: 'ERR-RATE-LIMITED' } satisfies ErrorFrame,
    },
  },
  pong: {
    schemaName: 'PongFrame',
    schema: PongFrame,
    title: 'Answer to a ping',
    summary: 'answer to `ping`',
    examples: { pong: { type: 'pong' } satisfies PongFrame },
  },
  reconnect: {
    schemaName: 'ReconnectFrame',
    schema: ReconnectFrame,
    title: 'The gateway is stopping',
    summary: 'the gateway is stopping; the close with 1001 follows at once',
    examples: { slot: { type: 'reconnect', after_ms: 2_350 } satisfies ReconnectFrame },
  },
} satisfies Record<string, DocumentedMessage>;

/** Messages from the app to the gateway. */
export const fromApp = {
  ping: {
    schemaName: 'PingFrame',
    schema: PingFrame,
    title: 'Check of liveness',
    summary: 'to check whether the stream is alive',
    examples: { ping: { type: 'ping' } satisfies PingFrame },
  },
  auth: {
    schemaName: 'AuthFrame',
    schema: AuthFrame,
    title: 'New access token',
    summary: "after a refresh: the stream lasts until the new token's end. One at a time",
    examples: { 'after a refresh': { type: 'auth', access_token } satisfies AuthFrame },
  },
} satisfies Record<string, DocumentedMessage>;

/** Messages from other services to the gateways. */
export const fromServices = {
  groupMessage: {
    schemaName: 'GroupMessage',
    schema: GroupMessage,
    title: 'Message to a group',
    summary: 'for every stream of the group',
    examples: { group: { home_group_id, ...content } satisfies GroupMessage },
  },
  sessionMessage: {
    schemaName: 'SessionMessage',
    schema: SessionMessage,
    title: 'Message to a session',
    summary: 'for the stream of one device',
    examples: { session: { session_id, ...content } satisfies SessionMessage },
  },
} satisfies Record<string, DocumentedMessage>;
