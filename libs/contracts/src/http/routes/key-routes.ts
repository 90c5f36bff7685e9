import { JsonWebKeySet, jwksExample } from '../jwks.ts';
import type { Route } from '../route.ts';

/** Public keys. */
export const keyRoutes = {
  jwks: {
    operationId: 'listPublicKeys',
    tag: 'Keys',
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
    carriesToken: false,
    errors: [],
  },
} as const satisfies Record<string, Route>;
