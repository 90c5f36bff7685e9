import * as Type from '../type.ts';

/**
 * Answer 200 of the metadata (RFC 8414 section 2), without our envelope. It has only the members that apply here.
 * OAuth's authorization and token endpoints are missing, because the service has none.
 */
export const ServerMetadata = Type.Object({
  issuer: Type.String({ pattern: '^https?://', description: 'Claim `iss` of every access token.' }),
  jwks_uri: Type.String({ pattern: '^https?://', description: 'URL of the public keys.' }),
  access_token_signing_alg_values_supported: Type.Array(Type.Enum(['ES256', 'EdDSA']), {
    minItems: 1,
    maxItems: 2,
    description:
      'Algorithms of the keys, the one that signs first. A token counts only by the `alg` of its key. A member of our own.',
  }),
  id_token_signing_alg_values_supported: Type.Array(Type.Enum(['ES256', 'EdDSA']), {
    minItems: 1,
    maxItems: 2,
    description: 'The same list, where libraries of OpenID Connect look for it. The service issues no ID tokens.',
  }),
  access_token_max_lifetime_seconds: Type.Integer({
    minimum: 1,
    description:
      'Longest time between `iat` and `exp` of an access token that is to be accepted: a revocation is remembered ' +
      'that long. A member of our own.',
  }),
  acr_values_supported: Type.Array(Type.Enum(['1', '2']), {
    minItems: 1,
    description: 'Values of the claim `acr` (RFC 9470): one factor, and two.',
  }),
  dpop_signing_alg_values_supported: Type.Array(Type.Literal('ES256'), {
    minItems: 1,
    description: 'Algorithms of `DPoP` proofs (RFC 9449, section 5.1).',
  }),
});
export type ServerMetadata = Type.Static<typeof ServerMetadata>;

export const metadataExample = {
  issuer: 'https://api.example.com',
  jwks_uri: 'https://api.example.com/.well-known/jwks.json',
  access_token_signing_alg_values_supported: ['ES256'],
  id_token_signing_alg_values_supported: ['ES256'],
  access_token_max_lifetime_seconds: 600,
  acr_values_supported: ['1', '2'],
  dpop_signing_alg_values_supported: ['ES256'],
} satisfies ServerMetadata;
