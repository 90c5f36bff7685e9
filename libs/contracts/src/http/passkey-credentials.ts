import * as Type from '../type.ts';
import { StoredNameOrNull, Timestamp, Uuid } from './fields.ts';

/** Bytes as WebAuthn's JSON has them: base64url without padding, which some native modules add. */
const Bytes = (maxLength: number) =>
  Type.String({ readAs: 'bytes', minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' });

/** Id of a credential: at most 1,023 bytes (WebAuthn level 3, section 4). */
const CredentialId = Bytes(1_364);

const shared = { id: CredentialId, rawId: CredentialId, type: Type.Literal('public-key') } as const;

/** Transports by which a client reaches an authenticator. Unknown ones are kept, because browsers add more. */
const Transports = Type.Array(Type.String({ minLength: 1, maxLength: 32, pattern: '^[a-z0-9-]+$' }), { maxItems: 10 });

/** `RegistrationResponseJSON` of WebAuthn level 3: `credential.toJSON()` in a browser, the same text from Android and iOS. */
export const NewCredential = Type.Object({
  ...shared,
  response: Type.Object({
    clientDataJSON: Bytes(4_096),
    attestationObject: Bytes(12_288),
    transports: Type.Optional(Transports),
  }),
});
export type NewCredential = Type.Static<typeof NewCredential>;

/** `AuthenticationResponseJSON` of WebAuthn level 3. */
export const UsedCredential = Type.Object({
  ...shared,
  response: Type.Object({
    clientDataJSON: Bytes(4_096),
    authenticatorData: Bytes(4_096),
    signature: Bytes(1_024),
    userHandle: Type.Optional(
      Type.Unsafe<string | null>({
        readAs: 'bytes',
        type: ['string', 'null'],
        maxLength: 88,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'Null and the empty text count as absent.',
      }),
    ),
  }),
});
export type UsedCredential = Type.Static<typeof UsedCredential>;

const Descriptor = Type.Object({
  type: Type.Literal('public-key'),
  id: Type.String({ minLength: 1 }),
  transports: Type.Optional(Type.Array(Type.String())),
});

/** `PublicKeyCredentialCreationOptionsJSON`, for `navigator.credentials.create` and its counterparts on phones. */
export const CreationOptions = Type.Object({
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  challenge: Type.String(),
  pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
  timeout: Type.Integer({ description: 'Milliseconds.' }),
  excludeCredentials: Type.Array(Descriptor),
  authenticatorSelection: Type.Object({
    residentKey: Type.Literal('required'),
    requireResidentKey: Type.Literal(true),
    userVerification: Type.Literal('required'),
  }),
  attestation: Type.Literal('none'),
});
export type CreationOptions = Type.Static<typeof CreationOptions>;

/** `PublicKeyCredentialRequestOptionsJSON`. A login has no `allowCredentials`. */
export const RequestOptions = Type.Object({
  challenge: Type.String(),
  timeout: Type.Integer({ description: 'Milliseconds.' }),
  rpId: Type.String(),
  userVerification: Type.Literal('required'),
  allowCredentials: Type.Optional(Type.Array(Descriptor)),
});
export type RequestOptions = Type.Static<typeof RequestOptions>;

/** A passkey, as its owner sees it. */
export const Passkey = Type.Object({
  passkey_id: Uuid,
  name: StoredNameOrNull,
  backed_up: Type.Boolean({ description: 'Its owner has copies of it, so the loss of one device does not lose it.' }),
  created_at: Timestamp,
  last_used_at: Type.Unsafe<string | null>({ ...Timestamp, type: ['string', 'null'] }),
});
export type Passkey = Type.Static<typeof Passkey>;
