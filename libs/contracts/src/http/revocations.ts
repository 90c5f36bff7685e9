import * as Type from '../type.ts';

/** Body of `POST /api/v1/revocations`. */
export const RevocationsRequest = Type.Object({
  nonce: Type.String({
    pattern: '^[A-Za-z0-9_-]{22,64}$',
    description: 'Random, new for each question, 128 bits or more in base64url. The statement repeats it.',
  }),
  cursor: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9:._-]{1,200}$',
      description:
        '`cursor` of the statement before. Without one the answer is the first page of everything that is denied; so ' +
        'it is with one that the service does not know (any more).',
    }),
  ),
});
export type RevocationsRequest = Type.Static<typeof RevocationsRequest>;

/** Answer 200 of `POST /api/v1/revocations`. */
export const RevocationsResponse = Type.Object({
  status: Type.Literal('success'),
  data: Type.Object({
    statement: Type.String({
      minLength: 1,
      description:
        'JWS in compact form, signed by a key of `/.well-known/jwks.json`, with `typ` `revocations+jwt`. Claims: ' +
        '`iss`; `aud`, which is `revocations:` and the name of the service; `iat`; `nonce` and `since`, the nonce ' +
        'and the cursor of this question (empty without one); `cursor` for the next question; `more`, true if there ' +
        'is more to read at once; `revoked`, ids of sessions whose tokens are all refused; `below`, an object of ' +
        'session ids and the smallest `ver` that is still good.',
    }),
  }),
});

export const revocationsExample = {
  status: 'success',
  data: { statement: 'eyJhbGciOiJFZERTQSIsInR5cCI6InJldm9jYXRpb25zK2p3dCJ9.eyJpc3MiOiJodHRwczovL2FwaSJ9.c2ln' },
} satisfies Type.Static<typeof RevocationsResponse>;
