import { requestHeaders } from '../http/request-headers.ts';
import type { ErrorReaction } from '../openapi/openapi-document.ts';
import { type Json, type JsonObject, publishNamedSchemas, publishSchema } from '../openapi/publish-schema.ts';
import {
  type CloseReason,
  closeCodes,
  closeReactions,
  otherCloseReaction,
  pushStreamPath,
} from '../push/close-codes.ts';
import { maxPushMessageBytes } from '../push/push-message.ts';
import { frameErrors, handshakeErrors } from '../push/stream-errors.ts';
import { type DocumentedMessage, fromApp, fromServices, toApp } from './stream-messages.ts';

const description = `One WebSocket per device, and the channel on which other services publish to it.

- The document describes the push-gateway: what it *sends* goes to the app, what it *receives* comes from the app or
  from another service.
- A frame is one JSON object, as text. An app ignores a \`type\`, and a \`topic\`, that it does not know.
- \`x-close-codes\` of the channel has every close code with its reason and a reaction for programs;
  \`x-handshake-errors\` the error codes that come before the upgrade, \`x-errors\` those of the \`error\` frame, with
  the reaction of the error catalogue.
- The HTTP API has an OpenAPI document. The access token of the examples is shortened and opens nothing.`;

type Reactions = Readonly<Record<string, ErrorReaction>>;

/**
 * Returns the AsyncAPI 3.0 document of the push streams. `reactions` has the codes of the error catalogue. Throws if a
 * code that a stream returns is missing from them.
 */
export function asyncApiDocument(reactions: Reactions): JsonObject {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Push streams of the Authentication and Account Service',
      version: '1.0.0',
      description,
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      pushGateway: {
        host: '{host}',
        protocol: 'wss',
        protocolVersion: '13',
        description: 'The push-gateway. A login returns the whole URL of its stream as `push_stream_url`.',
        variables: {
          host: { default: 'push.example.com', description: 'Host of `PUSH_PUBLIC_URL`.' },
        },
        security: Object.keys(securitySchemes).map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
      },
      redis: {
        host: '{host}',
        protocol: 'redis',
        description: 'The Redis of this service.',
        variables: { host: { default: 'redis.example.com:6379', description: 'Host of `REDIS_URL`.' } },
      },
    },
    channels: { pushStream: pushStreamChannel(reactions), appMessages },
    operations,
    components: {
      schemas: { ...messageSchemas(), Platform: publishNamedSchemas().Platform ?? {} },
      messages: Object.fromEntries(
        Object.entries(allMessages).map(([name, message]) => [name, messageOf(name, message, reactions)]),
      ),
      securitySchemes,
    },
  };
}

const allMessages: Readonly<Record<string, DocumentedMessage>> = { ...toApp, ...fromApp, ...fromServices };

function pushStreamChannel(reactions: Reactions): JsonObject {
  return {
    address: pushStreamPath('{session_id}'),
    title: 'Push stream',
    description:
      'Opened by a handshake of RFC 6455, version 13, without extensions. One stream per session: a newer one ' +
      'replaces it. Nothing is sent after the close frame.',
    servers: [{ $ref: '#/servers/pushGateway' }],
    parameters: {
      session_id: {
        description: 'The `session_id` of the login, a UUID. It must be the `sid` of the access token.',
        examples: [toApp.hello.examples.hello.session_id],
      },
    },
    messages: channelMessages({ ...toApp, ...fromApp }),
    bindings: { ws: handshakeBinding },
    'x-handshake-errors': errorsOf(handshakeErrors, reactions),
    'x-close-codes': {
      codes: (Object.keys(closeCodeTexts) as CloseReason[]).map((reason) => ({
        code: closeCodes[reason],
        reason,
        reaction: closeReactions[reason],
        description: closeCodeTexts[reason],
      })),
      other: { reaction: otherCloseReaction, description: otherCloseText },
    },
  };
}

/**
 * The two places where a client may send the access token. One is enough. The token is never in the URL, because URLs
 * reach logs.
 */
const securitySchemes: JsonObject = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access token of login or refresh (RFC 9068). Its `sid` is the session of the path.',
  },
  accessTokenInSubprotocol: {
    type: 'httpApiKey',
    in: 'header',
    name: 'Sec-WebSocket-Protocol',
    description:
      'For clients that cannot set headers: the access token as the second of two subprotocols, `bearer, <token>`. ' +
      'The answer names `bearer` only.',
  },
};

/** Headers of the handshake. */
const handshakeBinding: JsonObject = {
  method: 'GET',
  headers: {
    type: 'object',
    description: 'If the access token is in both places, they must be equal.',
    properties: {
      Authorization: { type: 'string', pattern: '^[Bb]earer [A-Za-z0-9._~+/-]+=*$' },
      'Sec-WebSocket-Protocol': { type: 'string', pattern: '^bearer, *[A-Za-z0-9._~+/-]+=*$' },
      'X-Request-ID': {
        ...publishSchema(requestHeaders['X-Request-ID'].schema),
        description: 'Optional. The answer carries it, or a generated one.',
      },
    },
    anyOf: [{ required: ['Authorization'] }, { required: ['Sec-WebSocket-Protocol'] }],
  },
  bindingVersion: '0.1.0',
};

/** The app's reaction to each close and the reason for the close, in the order of docs/push.md. */
const closeCodeTexts: Readonly<Record<CloseReason, string>> = {
  LOGOUT_CONFIRMED: 'logs in: this session was logged out',
  SESSION_REVOKED: 'logs in: ended by another device, an operator or theft',
  TOKEN_EXPIRED: 'refreshes, reconnects. It comes 30 s after the end of the token',
  GROUP_CHANGED: 'refreshes, reconnects: the user is now in another group',
  SESSION_REPLACED:
    "nothing: a newer login on this device has taken over. It may come before that login's answer, and is no logout",
  STREAM_REPLACED: 'stops: another connection of this session has taken over',
  SERVER_DRAINING: 'reconnects as the `reconnect` frame says',
  SLOW_CONSUMER: 'reconnects with jitter, and reads its state again: more than 64 KiB waited for it',
  UNSUPPORTED_DATA: 'error in the app: a binary frame, or text that is none of these frames',
  MESSAGE_TOO_BIG: 'error in the app: a frame of more than 16 KiB',
};

/** The text for a stream that ends otherwise: by a lost connection, or with a code that is not in the table above. */
const otherCloseText =
  'reconnects with jitter. 1006: there was no close frame, the connection was lost. Any other code counts as a lost ' +
  'connection: the handshake then says what to do';

const appMessages: JsonObject = {
  address: '{key_prefix}:messages',
  title: 'Messages to apps',
  description:
    'Redis pub/sub; on a Redis Cluster it is a sharded channel. Each message is delivered at most once, to the ' +
    `streams that are open. It has at most ${maxPushMessageBytes} bytes of UTF-8, as published and as the frame made ` +
    'of it. A longer or malformed one is dropped and counted, and so is one whose topic begins with `security.`.',
  servers: [{ $ref: '#/servers/redis' }],
  parameters: {
    key_prefix: {
      description: '`KEY_PREFIX` of the deployment, in braces. The braces are part of the name.',
      default: '{auth}',
    },
  },
  messages: channelMessages(fromServices),
};

const operations: JsonObject = {
  openStream: sending('Says that the stream is open', ['hello']),
  deliverMessage: sending('Delivers a message', ['message', 'newDevice', 'factorRemoval']),
  announceClose: sending('Says when to come back, before it stops', ['reconnect']),
  answerPing: receiving('Answers a ping', ['ping'], ['pong']),
  extendStream: receiving('Extends the stream by a new access token', ['auth'], ['authOk', 'error']),
  takeMessage: {
    action: 'receive',
    summary: 'Takes a message of another service',
    channel: { $ref: '#/channels/appMessages' },
    messages: references('appMessages', Object.keys(fromServices)),
  },
};

function sending(summary: string, messages: readonly (keyof typeof toApp)[]): JsonObject {
  return {
    action: 'send',
    summary,
    channel: { $ref: '#/channels/pushStream' },
    messages: references('pushStream', messages),
  };
}

function receiving(
  summary: string,
  messages: readonly (keyof typeof fromApp)[],
  answers: readonly (keyof typeof toApp)[],
): JsonObject {
  return {
    action: 'receive',
    summary,
    channel: { $ref: '#/channels/pushStream' },
    messages: references('pushStream', messages),
    reply: { channel: { $ref: '#/channels/pushStream' }, messages: references('pushStream', answers) },
  };
}

function references(channel: string, messages: readonly string[]): JsonObject[] {
  return messages.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` }));
}

function channelMessages(messages: Readonly<Record<string, DocumentedMessage>>): JsonObject {
  return Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]));
}

function messageOf(name: string, message: DocumentedMessage, reactions: Reactions): JsonObject {
  const { schemaName, title, summary, examples } = message;
  return {
    name,
    title,
    summary,
    payload: { $ref: `#/components/schemas/${schemaName}` },
    examples: Object.entries(examples).map(([example, payload]) => ({ name: example, payload: payload as Json })),
    ...(name === 'error' ? { 'x-errors': errorsOf(frameErrors, reactions) } : {}),
  };
}

/**
 * Returns the schemas of the messages. A message fits exactly one schema, because `security.…` topics belong to this
 * service alone, and no message is addressed to both a group and a session.
 */
function messageSchemas(): JsonObject {
  const schemas = Object.fromEntries(
    Object.values(allMessages).map(({ schemaName, schema }) => [schemaName, publishSchema(schema)]),
  );
  return {
    ...schemas,
    MessageFrame: {
      ...schemas.MessageFrame,
      not: { properties: { topic: { type: 'string', pattern: '^security\\.' } } },
    },
    GroupMessage: { ...schemas.GroupMessage, not: { required: ['session_id'] } },
    SessionMessage: { ...schemas.SessionMessage, not: { required: ['home_group_id'] } },
  };
}

function errorsOf(codes: readonly string[], reactions: Reactions): JsonObject {
  return Object.fromEntries(
    codes.map((code) => {
      const row = reactions[code];
      if (row === undefined) throw new Error(`the error catalogue has no ${code}`);
      return [code, { ...row }];
    }),
  );
}
