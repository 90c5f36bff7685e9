import * as Type from '../type.ts';

/** A public key that verifies access tokens (RFC 7517, RFC 7518, RFC 8037). It has no private part. */
export const JsonWebKey = Type.Object({
  kid: Type.String({ minLength: 1, description: 'Named by the header of every token that the key has signed.' }),
  kty: Type.Enum(['EC', 'OKP']),
  crv: Type.Enum(['P-256', 'Ed25519']),
  x: Type.String({ minLength: 1 }),
  y: Type.Optional(Type.String({ minLength: 1 })),
  use: Type.Literal('sig'),
  alg: Type.Enum(['ES256', 'EdDSA']),
});

/** Answer 200 of `GET /.well-known/jwks.json`: the bare set of RFC 7517 section 5, without our envelope. */
export const JsonWebKeySet = Type.Object({ keys: Type.Array(JsonWebKey, { minItems: 1 }) });
export type JsonWebKeySet = Type.Static<typeof JsonWebKeySet>;

export const jwksExample = {
  keys: [
    {
      kid: '2026-11',
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
      use: 'sig',
      alg: 'ES256',
    },
  ],
} satisfies JsonWebKeySet;
