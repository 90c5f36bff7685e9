import * as Type from '../type.ts';

/** A public key that verifies access tokens (RFC 7517, RFC 8037). It has no private part. */
export const JsonWebKey = Type.Object({
  kid: Type.String({ minLength: 1, description: 'Named by the header of every token that the key has signed.' }),
  kty: Type.Enum(['OKP', 'EC']),
  crv: Type.Enum(['Ed25519', 'P-256']),
  x: Type.String({ minLength: 1 }),
  y: Type.Optional(Type.String({ minLength: 1 })),
  use: Type.Literal('sig'),
  alg: Type.Enum(['EdDSA', 'ES256']),
});

/** Answer 200 of `GET /.well-known/jwks.json`: the bare set of RFC 7517 section 5, without our envelope. */
export const JsonWebKeySet = Type.Object({ keys: Type.Array(JsonWebKey, { minItems: 1 }) });
export type JsonWebKeySet = Type.Static<typeof JsonWebKeySet>;

export const jwksExample = {
  keys: [
    {
      kid: '2026-11',
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      use: 'sig',
      alg: 'EdDSA',
    },
  ],
} satisfies JsonWebKeySet;
