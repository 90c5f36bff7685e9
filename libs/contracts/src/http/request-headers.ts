import * as Type from '../type.ts';

/**
 * A well-formed `X-Request-ID`. It matches no comma or space, because repeated headers arrive joined by a comma and a
 * space.
 */
export const requestIdPattern = /^[A-Za-z0-9._~:/+=-]{1,128}$/;

/**
 * The request headers of the API, as the OpenAPI document describes them. Only a required one has an example, because
 * the page at `/docs` sends examples: an old proof, or a key that was used before, is refused.
 */
export const requestHeaders = {
  'X-Request-ID': {
    required: true,
    description:
      'Identifies the request end to end: a new value for each, set once in the transport of a client (interceptor, ' +
      'middleware) or by the proxy. Exactly one header; every answer echoes it. Without it the answer is 400 ' +
      '`PMA_TRACE_ID_MISSING`, unless the service has `REQUEST_ID_MODE=generate`.',
    schema: Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._~:/+=-]+$' }),
    example: '6f1c1f3e-0b8f-4f0e-9c55-0d5b0c3f5d11',
  },
  'Accept-Language': {
    required: false,
    description:
      'Language of `message` and `details.action` in errors (RFC 9110, 12.5.4): English (default) or Russian, such as `ru, en;q=0.8`.',
    schema: Type.String(),
  },
  'Idempotency-Key': {
    required: false,
    description:
      'Chosen by the client for one intent. A retry with the same key and body within 24 hours gets the first answer ' +
      'again, with `Idempotency-Replayed: true`; only successes are kept.',
    schema: Type.String({ minLength: 1, maxLength: 128, pattern: '^[\\x21-\\x7e]+$' }),
  },
  DPoP: {
    required: false,
    description:
      'Proof that the device holds a key (RFC 9449; ES256, at most 60 s old). `htu` is the public URL of the ' +
      'operation. At a login it binds the session’s refresh tokens to the key. A refresh of such a session needs a ' +
      'proof by the same key with `rth`, the base64url SHA-256 of the refresh token.',
    schema: Type.String({ pattern: '^[\\w-]+\\.[\\w-]+\\.[\\w-]+$' }),
  },
  'X-Device-Secret': {
    required: false,
    description:
      'Random secret of the installation, by which an account knows the device again (OWASP, device cookies): made ' +
      'once with at least 122 random bits (a UUID will do), kept as safely as a token, and sent with each login and ' +
      'request for a code. Wrong passwords and codes from elsewhere then do not keep its user out.',
    schema: Type.String({ pattern: '^[\\w-]{22,128}$' }),
  },
} as const;

export type RequestHeader = keyof typeof requestHeaders;
