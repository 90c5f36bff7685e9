import { JsonWebKeySet, jwksExample } from '../jwks.ts';
import { metadataExample, ServerMetadata } from '../metadata.ts';
import type { Route } from '../route.ts';

/** The metadata, which a library may fetch from either of its two paths. */
const metadata = {
  tag: 'Keys',
  promises: 'login-and-tokens.md#public-keys',
  client: null,
  method: 'get',
  auth: 'none',
  headers: [],
  success: {
    status: 200,
    description: 'Issuer, URL of the keys, their algorithms, and longest life of the access tokens.',
    body: ServerMetadata,
    example: metadataExample,
    cacheControl: 'public, max-age=300',
  },
  errors: [],
} as const;

/** Operations for the public keys, and for the metadata with the keys' URL. */
export const keyRoutes = {
  listPublicKeys: {
    operationId: 'listPublicKeys',
    tag: 'Keys',
    promises: 'login-and-tokens.md#public-keys',
    client: null,
    summary: 'Public keys of the access tokens',
    description:
      'The JSON Web Key Set (RFC 7517) by which other services verify access tokens. It may be cached for 300 s; a ' +
      'service that meets an unknown `kid` asks again.',
    method: 'get',
    path: '/.well-known/jwks.json',
    auth: 'none',
    headers: [],
    success: {
      status: 200,
      description: 'The keys that verify, the one that signs first.',
      body: JsonWebKeySet,
      example: jwksExample,
      cacheControl: 'public, max-age=300',
    },
    errors: [],
  },
  getServerMetadata: {
    ...metadata,
    operationId: 'getServerMetadata',
    summary: 'Show what another service needs to verify access tokens',
    description:
      'The metadata of RFC 8414, with the members that are true here: this service issues tokens to its own apps, and ' +
      'has none of the endpoints of OAuth. It may be cached for 300 s. If the issuer has a path, the answer is also ' +
      'found with that path appended (RFC 8414 section 3.1).',
    path: '/.well-known/oauth-authorization-server',
  },
  getOpenidConfiguration: {
    ...metadata,
    operationId: 'getOpenidConfiguration',
    summary: 'The same, for libraries that look here',
    description:
      'The answer of `/.well-known/oauth-authorization-server`, for libraries that only know the path of OpenID ' +
      'Connect. This service is no OpenID provider: it issues no ID tokens.',
    path: '/.well-known/openid-configuration',
  },
} as const satisfies Record<string, Route>;
