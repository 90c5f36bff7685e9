import { requestHeaders } from '../http/request-headers.ts';
import { type JsonObject, publishSchema } from '../openapi/publish-schema.ts';

/** The two places for the access token; one is enough. It is never in the address: addresses reach logs. */
export const securitySchemes: JsonObject = {
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
export const handshakeBinding: JsonObject = {
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
